"""Refusals with the codes and the words of Confluent's registry: clients look at both."""

from samsa.schemas.contents import Registered

UNPROCESSABLE = 422


class RegistryRefusal(Exception):
    """The first three digits of a code are the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = code if code < 1_000 else code // 100


def no_such_subject(subject: str) -> RegistryRefusal:
    return RegistryRefusal(40401, f"Subject '{subject}' not found.")


def no_such_version(version: object) -> RegistryRefusal:
    return RegistryRefusal(40402, f"Version {version} not found.")


def no_such_schema(schema_id: int | None = None) -> RegistryRefusal:
    named = "Schema" if schema_id is None else f"Schema {schema_id}"
    return RegistryRefusal(40403, f"{named} not found")


def subject_soft_deleted(subject: str) -> RegistryRefusal:
    more = "was soft deleted. Set permanent=true to delete permanently"
    return RegistryRefusal(40404, f"Subject '{subject}' {more}")


def subject_not_soft_deleted(subject: str) -> RegistryRefusal:
    more = "was not deleted first before being permanently deleted"
    return RegistryRefusal(40405, f"Subject '{subject}' {more}")


def version_soft_deleted(found: Registered) -> RegistryRefusal:
    more = "was soft deleted. Set permanent=true to delete permanently"
    return RegistryRefusal(40406, f"Subject '{found.subject}' Version {found.version} {more}")


def version_not_soft_deleted(found: Registered) -> RegistryRefusal:
    more = "was not deleted first before being permanently deleted"
    return RegistryRefusal(40407, f"Subject '{found.subject}' Version {found.version} {more}")


def no_own_level(subject: str) -> RegistryRefusal:
    more = "does not have subject-level compatibility configured"
    return RegistryRefusal(40408, f"Subject '{subject}' {more}")


def no_own_mode(subject: str) -> RegistryRefusal:
    more = "does not have subject-level mode configured"
    return RegistryRefusal(40409, f"Subject '{subject}' {more}")


def incompatible(subject: str, problems: list[str]) -> RegistryRefusal:
    why = ", ".join(problems)
    more = f'an earlier schema for subject "{subject}", details: [{why}]'
    return RegistryRefusal(409, f"Schema being registered is incompatible with {more}")


def invalid_schema(why: str) -> RegistryRefusal:
    return RegistryRefusal(42201, f"Invalid schema: {why}")


def invalid_version(given: str) -> RegistryRefusal:
    allowed = 'Allowed values are between [1, 2^31-1] and the string "latest"'
    more = f"is not a valid version id. {allowed}"
    return RegistryRefusal(42202, f"The specified version '{given}' {more}")


def invalid_level(given: object) -> RegistryRefusal:
    levels = "none, backward, forward, full, backward_transitive, forward_transitive"
    valid = f"Valid values are {levels}, and full_transitive"
    return RegistryRefusal(42203, f"Invalid compatibility level {given!r}. {valid}")


def invalid_mode(given: object) -> RegistryRefusal:
    valid = "Valid values are READWRITE, READONLY, and IMPORT"
    return RegistryRefusal(42204, f"Invalid mode {given!r}. {valid}")


def not_permitted(why: str) -> RegistryRefusal:
    return RegistryRefusal(42205, why)


def is_referred_to(found: Registered) -> RegistryRefusal:
    key = f"{{magic=1,keytype=SCHEMA,subject={found.subject},version={found.version}}}"
    return RegistryRefusal(42206, f"One or more references exist to the schema {key}.")


def bad_request(why: str) -> RegistryRefusal:
    return RegistryRefusal(UNPROCESSABLE, why)


def store_failed(why: str) -> RegistryRefusal:
    return RegistryRefusal(50001, f"Error in the backend data store: {why}")
