"""The limits in force: the operator's file first, then what a person set, else the defaults."""

import asyncio
from collections.abc import Callable, Collection
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.config import LimitSettings
from windlass.core.errors import BadInput, Conflict
from windlass.core.values import value_object
from windlass.store import Documents, Store

# The others size what is built at the start: the HTTP server, the toolbox and the runner's slots.
LIVE = frozenset(
    {"rounds", "calls", "attempts", "repeats", "bad_arguments", "crashes", "message_chars", "turn_s", "turn_tokens"}
    | {"tools", "tool_tokens", "attached_chars", "instructions_chars", "instructions_total"}
    | {"day_tokens", "connect_s", "first_byte_s", "silence_s", "reply_s", "keep_days"}
)
LEAST = {"keep_days": 1}  # a slip of the hand would delete what was said today
ROW = "limits"


@value_object
class KeptLimits:
    values: dict[str, float | None]


class LimitsInForce:
    def __init__(
        self, store: Store, operator: LimitSettings, in_file: Collection[str], use: Callable[[LimitSettings], None]
    ) -> None:
        """`in_file` names those that the operator's file sets. `use` puts new limits into force, for turns that begin
        afterwards."""
        self._usual: dict[str, Any] = msgspec.structs.asdict(LimitSettings())
        self._operator: dict[str, Any] = msgspec.structs.asdict(operator)
        differing = {name for name, value in self._operator.items() if value != self._usual[name]}
        self._fixed = differing.union(in_file)  # a program may give limits without a file
        self._kept: Documents[KeptLimits] = store.documents("limit", KeptLimits)
        self._saved: dict[str, float | None] = {}
        self._use = use
        self._changing = asyncio.Lock()  # each change builds on what the one before it saved

    def load(self) -> None:
        """What the file sets by now no longer counts."""
        kept = self._kept.get(ROW)
        self._saved = {name: value for name, value in kept.values.items() if self._may_set(name)} if kept else {}
        if self._saved:
            self._use(self._settings(self._saved))

    @serves(routes.system.limits)
    async def all(self) -> schemas.LimitList:
        shown = [
            schemas.Limit(name, value, self._usual[name], self._source(name), name in LIVE)
            for name, value in msgspec.structs.asdict(self._settings(self._saved)).items()
        ]
        return schemas.LimitList(shown, len(shown))

    @serves(routes.system.change_limits)
    async def change(self, change: schemas.LimitChange) -> schemas.LimitList:
        for name, value in change.limits.items():
            self._check_may_set(name)
            _check_least(name, value)
        async with self._changing:
            await self._save({**self._saved, **change.limits})
        return await self.all()

    async def _save(self, wanted: dict[str, float | None]) -> None:
        saved = {name: value for name, value in wanted.items() if value != self._usual[name]}
        settings = self._settings(saved)
        await self._kept.put(ROW, KeptLimits(saved))
        self._saved = saved
        self._use(settings)

    def _source(self, name: str) -> schemas.LimitSource:
        if self._set_by_operator(name):
            return "file"
        return "saved" if name in self._saved else "default"

    def _set_by_operator(self, name: str) -> bool:
        return name in self._fixed

    def _may_set(self, name: str) -> bool:
        return name in LIVE and not self._set_by_operator(name)

    def _check_may_set(self, name: str) -> None:
        if name not in self._usual:
            raise BadInput(
                f"There is no limit {name[:40]}.", hint="GET /limits shows them.", detail={"path": name[:40]}
            )
        if self._set_by_operator(name):
            raise Conflict(f"{name} is set in windlass.toml.", hint="Edit it there.", code="from_config")
        if name not in LIVE:
            raise Conflict(
                f"{name} is read when Windlass starts.",
                hint="Set it in windlass.toml, under [limits], and restart.",
                code="needs_restart",
            )

    def _settings(self, saved: dict[str, float | None]) -> LimitSettings:
        for name, value in saved.items():
            if value is None and self._usual[name] is not None:
                raise BadInput(f"{name} needs a number.", hint=f"The default is {self._usual[name]:g}.")
            if value is not None and value <= 0:
                raise BadInput(f"{name} must be more than 0.", hint="Give a number above 0.", detail={"path": name})
        try:
            return msgspec.convert({**self._operator, **saved}, LimitSettings, strict=False)
        except msgspec.ValidationError as error:
            raise BadInput(f"{error}.", hint="Give another number.", detail={"path": "limits"}) from None


def _check_least(name: str, value: float | None) -> None:
    if value is not None and value < LEAST.get(name, value):
        raise BadInput(f"{name} must be at least {LEAST[name]}.", hint="Give a larger number.", detail={"path": name})
