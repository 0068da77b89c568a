"""The base of the generated models of what the API answers."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


def _name_in_json(field: str) -> str:
    """A field that would be a word of Python has an underscore behind it."""
    return to_camel(field).rstrip("_")


class Answer(BaseModel):
    """Ignores fields that a newer API adds. A model is built at its first use, so that an import stays quick."""

    model_config = ConfigDict(
        alias_generator=_name_in_json, populate_by_name=True, extra="ignore", frozen=True, defer_build=True
    )
