"""Says what it was asked, as JSON; or bytes, if the path asks for them."""

import base64
import json


def handler(event, context):
    if event["rawPath"] == "/bytes":
        body = base64.b64encode(b"\xff\x00").decode()
        return {"statusCode": 201, "body": body, "isBase64Encoded": True, "cookies": ["a=1", "b=2"]}
    return {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "body": json.dumps(event),
    }
