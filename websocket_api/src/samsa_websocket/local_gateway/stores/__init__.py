"""DynamoDB and S3 for one machine: a SQLite file and a folder, behind the protocols of the two.

The functions are not changed for it: they sign and send the requests that they send on AWS, and the
local gateway answers them. It knows what Samsa asks for, and refuses everything else by name; tests
compare it with Amazon's own DynamoDB Local and with an S3 server.
"""
