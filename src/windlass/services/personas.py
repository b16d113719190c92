"""Personas: plain rows, looked at and changed."""

from dataclasses import replace
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import Conflict, NotFound
from windlass.core.ids import new_id
from windlass.services.keyed_lock import KeyedLock
from windlass.store import NAMES_EDITION, Documents, Store
from windlass.turns.personas import BUILT_IN, PersonaRow


class Personas:
    """Those that come with it may be changed; deleting the change brings the original back."""

    def __init__(self, store: Store) -> None:
        self._kept: Documents[PersonaRow] = store.documents("persona", PersonaRow)
        self._changes = KeyedLock()

    def has(self, id: str) -> bool:
        return self._kept.get(id) is not None or any(persona.id == id for persona in BUILT_IN)

    def tools_of(self, id: str) -> tuple[str, ...]:
        return self._found(id).tools

    @serves(routes.personas.all)
    async def all(self) -> schemas.PersonaList:
        kept = {persona.id: persona for persona in self._kept.all()}
        found = [_shown(persona) for persona in ({one.id: one for one in BUILT_IN} | kept).values()]
        return schemas.PersonaList(found, len(found))

    @serves(routes.personas.add)
    async def add(self, new: schemas.NewPersona) -> schemas.PersonaAnswer:
        fields = msgspec.structs.asdict(new) | {"tools": tuple(new.tools)}
        persona = PersonaRow(new_id("persona"), **fields, names_edition=NAMES_EDITION)
        await self._kept.put(persona.id, persona)
        return schemas.PersonaAnswer(_shown(persona), message="Persona added")

    @serves(routes.personas.get)
    async def get(self, persona_id: str) -> schemas.PersonaAnswer:
        return schemas.PersonaAnswer(_shown(self._found(persona_id)))

    @serves(routes.personas.change)
    async def change(self, persona_id: str, change: schemas.PersonaChange) -> schemas.PersonaAnswer:
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in msgspec.structs.asdict(change).items()
            if value is not msgspec.UNSET
        }
        if "model" in given:
            given["names_edition"] = NAMES_EDITION
        async with self._changes.hold(persona_id):
            persona = replace(self._found(persona_id), **given)
            await self._kept.put(persona.id, persona)
        return schemas.PersonaAnswer(_shown(persona), message="Persona changed")

    @serves(routes.personas.delete)
    async def delete(self, persona_id: str) -> schemas.Acknowledged:
        async with self._changes.hold(persona_id):
            persona = self._found(persona_id)
            was_there = await self._kept.delete(persona_id)
        if not was_there:
            raise Conflict("This persona comes with Windlass.", hint="Change it instead.", code="builtin")
        return schemas.Acknowledged(message="Persona reset" if persona.builtin else "Persona deleted")

    def _found(self, persona_id: str) -> PersonaRow:
        kept = self._kept.get(persona_id)
        found = kept or next((persona for persona in BUILT_IN if persona.id == persona_id), None)
        if found is None:
            raise NotFound(f"There is no persona {persona_id[:100]}.", hint="GET /personas shows those that are there.")
        return found


def _shown(persona: PersonaRow) -> schemas.Persona:
    return schemas.Persona(
        persona.id,
        persona.name,
        persona.system_prompt,
        persona.model,
        persona.temperature,
        persona.web_search,
        list(persona.tools),
        persona.builtin,
    )
