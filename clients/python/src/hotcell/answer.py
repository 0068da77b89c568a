"""The base of the generated models of what the API answers."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Answer(BaseModel):
    """Ignores fields that a newer API adds. A model is built at its first use, so that an import stays quick."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True, defer_build=True
    )
