"""The installed card packages of all owners: what was accepted, what waits for consent, and the names of their tools.

Trees lie below a folder of the host's, one for each package and content; rows in the store say which of them count. It
runs nothing of them. Who wants to know when one is accepted, switched or removed asks `on_changed`.
"""

import shutil
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolwire.canvas.consent import asks_consent
from toolwire.canvas.ledger import Ledger, assigned, names_of, released
from toolwire.canvas.package_check import missing_files
from toolwire.canvas.package_tree import files_of, tree_hash
from toolwire.canvas.sources import Source, fetch, find_manifest, read_source
from toolwire.canvas.uploads import Upload, uploaded_source
from toolwire.card.manifest import Finding, Manifest, check_manifest, read_manifest
from toolwire.core.errors import Conflict, ConsentRequired, Forbidden, InvalidParam, PackageNotFound
from toolwire.core.ids import new_id
from toolwire.core.ports import Clock, Del, Op, Put, Store

MAX_PACKAGES = 200
"""Of one owner."""
_PAGE = 1000

Status: TypeAlias = Literal["consent_required", "installed"]
ChangedListener: TypeAlias = "Callable[[Package], None]"
"""Told of a package that was accepted, switched or removed, as it is now. It must not block."""


class Version(Struct, frozen=True):
    """One content of a package: the hash of its tree, and its manifest as it was read."""

    digest: str
    manifest: Manifest


class Package(Struct, frozen=True, omit_defaults=True):
    """A package of one owner.

    `accepted` is what runs and what agents see; `pending` waits for the owner's consent. `disabled` are tools that the
    card has switched off. `installed_at` is Unix seconds, UTC. `removed` says that it is gone.
    """

    id: str
    owner: str
    source: Source
    installed_at: float
    accepted: Version | None = None
    pending: Version | None = None
    disabled: frozenset[str] = frozenset()
    removed: bool = False

    @property
    def shown(self) -> Version:
        """What the owner is shown: what waits, else what runs."""
        version = self.pending or self.accepted
        assert version is not None
        return version

    @property
    def status(self) -> Status:
        """Whether it waits for consent."""
        return "installed" if self.pending is None else "consent_required"


class Offer(Struct, frozen=True):
    """What became of a source: the package, and what its author should know."""

    package: Package
    warnings: tuple[Finding, ...] = ()


_encode = msgspec.json.Encoder().encode  # not MessagePack, which has no large integers
_decode = msgspec.json.Decoder(Package).decode
_decode_ledger = msgspec.json.Decoder(Ledger).decode


class Packages:
    """All packages. Call `load` before anything else.

    Args:
        store: keeps the rows.
        clock: tells the time.
        folder: keeps the trees.
        trusts: whether an owner may run programs on this machine; see `identity.Directory.trusts`.
    """

    def __init__(self, store: Store, clock: Clock, folder: Path, trusts: Callable[[str], bool]) -> None:
        self._store = store
        self._clock = clock
        self._folder = folder
        self._trusts = trusts
        self._packages: dict[str, Package] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._changing = anyio.Lock()
        self._listeners: list[ChangedListener] = []

    async def load(self) -> None:
        """Read all packages from the store, and remove trees that no row names.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        after = ""
        while rows := await self._store.scan("card_package", None, after, _PAGE):
            for row in rows:
                self._packages[row.key] = _decode(row.value)
            after = rows[-1].key
        for owner in {package.owner for package in self._packages.values()}:
            stored = await self._store.get("card_names", owner, "ledger")
            self._ledgers[owner] = () if stored is None else _decode_ledger(stored.value)
        await anyio.to_thread.run_sync(self._sweep_trees)

    def on_changed(self, listener: ChangedListener) -> None:
        """Tell `listener` of every package that is accepted, switched or removed."""
        self._listeners.append(listener)

    def get(self, owner: str, package_id: str) -> Package:
        """A package of this owner.

        Raises:
            PackageNotFound: the owner has none of that id.
        """
        package = self._packages.get(package_id)
        if package is None or package.owner != owner:
            raise PackageNotFound(f"there is no package {package_id!r}; list yours, or install it first")
        return package

    def owner_of(self, package_id: str) -> str:
        """Whose a package is.

        Raises:
            PackageNotFound: there is none of that id.
        """
        package = self._packages.get(package_id)
        if package is None:
            raise PackageNotFound(f"there is no package {package_id!r}")
        return package.owner

    def of_owner(self, owner: str) -> list[Package]:
        """An owner's packages, in the order in which they were installed."""
        return [package for package in self._packages.values() if package.owner == owner]

    def title_of(self, owner: str, package: str) -> str:
        """The name that a new copy begins with; see `routes_board.Placeable`."""
        found = self.get(owner, package)
        if found.accepted is None:
            raise ConsentRequired(
                f"package {found.shown.manifest.name!r} waits for your consent; give or refuse it first"
            )
        return found.accepted.manifest.display_name

    def exposed(self, package: Package) -> Mapping[str, str]:
        """The name before agents of each tool of the accepted manifest."""
        names = self._names.get(package.id)
        if names is None:
            names = self._names[package.id] = names_of(self._ledgers.get(package.owner, ()), package.source.identity)
        return names

    def exposed_if_accepted(self, package: Package) -> Mapping[str, str]:
        """The names that the tools of `package.shown` have, or would have."""
        return names_of(self._ledger_with(package, package.shown.manifest), package.source.identity)

    def tree(self, package: Package) -> Path:
        """The folder of what was accepted.

        Raises:
            ConsentRequired: nothing was.
        """
        if package.accepted is None:
            raise ConsentRequired(f"package {package.shown.manifest.name!r} waits for your consent")
        return self._tree(package.id, package.accepted.digest)

    async def add(self, owner: str, source: str) -> Offer:
        """Install a package, or update the one that came from the same source.

        What agents or their user would see differently waits for `consent`; until then the accepted version runs on.

        Args:
            owner: whose it is.
            source: see `sources.read_source`.

        Raises:
            InvalidParam: the source or the manifest cannot be used; `errors` in the data say why.
            Forbidden: it lies on this machine or runs on it, and the owner may not do that.
            PayloadTooLarge: it is too large.
            Conflict: the owner has too many packages.
        """
        trusted = self._trusts(owner)
        read = await anyio.to_thread.run_sync(partial(read_source, source, may_read_files=trusted))  # looks at files
        return await self._take(owner, partial(fetch, read), lambda _: read)

    async def add_upload(self, owner: str, upload: Upload) -> Offer:
        """The same with an archive that is sent; one of the same name is its update.

        Raises:
            InvalidParam, Forbidden, PayloadTooLarge, Conflict: as `add`.
        """
        return await self._take(owner, upload.unpack, lambda version: uploaded_source(version.manifest.name))

    async def _take(
        self, owner: str, bring: Callable[[Path], Awaitable[None]], source_of: Callable[[Version], Source]
    ) -> Offer:
        incoming = self._folder / "incoming" / new_id("in")
        await anyio.to_thread.run_sync(lambda: incoming.parent.mkdir(parents=True, exist_ok=True))
        await bring(incoming)
        try:
            version, warnings = await anyio.to_thread.run_sync(_read_version, incoming)
            if version.manifest.is_python and not self._trusts(owner):
                raise Forbidden("a Python card runs on this machine, which only the owner who has set it up may allow")
            source = source_of(version)
            async with self._changing:
                package = self._known(owner, source) or self._new(owner, source)
                await anyio.to_thread.run_sync(_keep_tree, incoming, self._tree(package.id, version.digest))
                return Offer(await self._offer(package, version), warnings)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(lambda: shutil.rmtree(incoming, ignore_errors=True))

    async def consent(self, owner: str, package_id: str, digest: str, accept: bool) -> Package:
        """The owner's answer to what waits. Refused, what was accepted before goes on; a new package is gone.

        Raises:
            PackageNotFound: the owner has none of that id.
            Conflict: nothing waits, or something else than the owner has seen.
        """
        async with self._changing:
            package = self.get(owner, package_id)
            pending = package.pending
            if pending is None or pending.digest != digest:
                waiting = "nothing" if pending is None else f"version {pending.manifest.version} ({pending.digest})"
                raise Conflict(f"{waiting} waits for consent, not {digest!r}; read the package again")
            if accept:
                return await self._accept(package, pending)
            if package.accepted is None:
                return await self._forget(package)
            return await self._keep(replace(package, pending=None), ())

    async def set_enabled(self, package: Package, tool: str, enabled: bool) -> Package:
        """Show a tool to agents or hide it, for all copies (cards.md 66-68).

        Raises:
            InvalidParam: the package has no such tool.
            PackageNotFound: it is gone.
        """
        async with self._changing:
            package = self.get(package.owner, package.id)
            if package.accepted is None or package.accepted.manifest.tool(tool) is None:
                raise InvalidParam(f"the manifest declares no tool {tool!r}", param="tool")
            disabled = package.disabled - {tool} if enabled else package.disabled | {tool}
            if disabled == package.disabled:
                return package
            return await self._keep(replace(package, disabled=disabled), ())

    async def remove(self, owner: str, package_id: str) -> None:
        """Remove a package. Its names are kept for it for a while (decision 8).

        Raises:
            PackageNotFound: the owner has none of that id.
        """
        async with self._changing:
            await self._forget(self.get(owner, package_id))

    def _known(self, owner: str, source: Source) -> Package | None:
        same = (package for package in self.of_owner(owner) if package.source.identity == source.identity)
        found = next(same, None)
        return None if found is None else replace(found, source=source)

    def _new(self, owner: str, source: Source) -> Package:
        if len(self.of_owner(owner)) >= MAX_PACKAGES:
            raise Conflict(f"an owner has at most {MAX_PACKAGES} packages; remove one")
        return Package(new_id("pkg"), owner, source, self._clock.now())

    async def _offer(self, package: Package, version: Version) -> Package:
        accepted = None if package.accepted is None else package.accepted.manifest
        if package.accepted == version:
            return await self._keep(replace(package, pending=None), ())
        if asks_consent(accepted, version.manifest):
            return await self._keep(replace(package, pending=version), ())
        return await self._accept(package, version)

    async def _accept(self, package: Package, version: Version) -> Package:
        ledger = self._ledger_with(package, version.manifest)
        tools = {tool.name for tool in version.manifest.tools}
        accepted = replace(package, accepted=version, pending=None, disabled=package.disabled & tools)
        return await self._keep(accepted, ledger)

    async def _forget(self, package: Package) -> Package:
        owner = package.owner
        ledger = released(self._ledgers.get(owner, ()), package.source.identity, (), self._clock.now())
        ops = [Del("card_package", owner, package.id), Put("card_names", owner, "ledger", _encode(ledger))]
        gone = replace(package, removed=True)
        with anyio.CancelScope(shield=True):
            await self._store.tx(ops)
            self._packages.pop(package.id, None)
            self._ledgers[owner] = ledger
            self._names.clear()
            self._tell(gone)
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(self._folder / package.id, ignore_errors=True))
        return gone

    async def _keep(self, package: Package, ledger: Ledger) -> Package:
        """Write a package down, with the names of all if they have changed."""
        ops: list[Op] = [Put("card_package", package.owner, package.id, _encode(package))]
        if ledger:
            ops.append(Put("card_names", package.owner, "ledger", _encode(ledger)))
        with anyio.CancelScope(shield=True):  # a cancelled owner would not know whether it counts
            await self._store.tx(ops)
            self._packages[package.id] = package
            if ledger:
                self._ledgers[package.owner] = ledger
                self._names.clear()
        self._tell(package)
        return package

    def _ledger_with(self, package: Package, manifest: Manifest) -> Ledger:
        tools = [tool.name for tool in manifest.tools]
        ledger = self._ledgers.get(package.owner, ())
        return assigned(ledger, package.source.identity, manifest.name, tools, self._clock.now())

    def _tell(self, package: Package) -> None:
        for listener in tuple(self._listeners):
            listener(package)

    def _tree(self, package_id: str, digest: str) -> Path:
        return self._folder / package_id / digest

    def _sweep_trees(self) -> None:
        if not self._folder.is_dir():
            return
        named = {
            self._tree(package.id, version.digest)
            for package in self._packages.values()
            for version in (package.accepted, package.pending)
            if version is not None
        }
        for folder in self._folder.iterdir():
            for tree in folder.iterdir() if folder.is_dir() else ():
                if tree not in named:
                    shutil.rmtree(tree, ignore_errors=True)


def _read_version(tree: Path) -> tuple[Version, tuple[Finding, ...]]:
    """What a fetched tree is.

    Raises:
        InvalidParam: its manifest cannot be used, or names a file that is not there.
    """
    data = find_manifest(tree).read_bytes()
    manifest, report = read_manifest(data), check_manifest(data)
    for missing in missing_files({path: file for file, path in files_of(tree)}, manifest):
        raise InvalidParam(missing.message, param=missing.path)
    return Version(tree_hash(tree), manifest), report.warnings


def _keep_tree(incoming: Path, tree: Path) -> None:
    if not tree.exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        incoming.rename(tree)
