"""Errors of well-known programs that do not name what isolation keeps from them: which path each of them means."""

import re
from collections.abc import Iterator
from typing import Literal

Access = Literal["read", "write"]
DOCKER_SOCKETS = ("/run/docker.sock", "~/.docker/run/docker.sock", "/run/podman/podman.sock")
_HIDDEN = tuple(
    (re.compile(pattern, re.IGNORECASE), paths)
    for pattern, paths in (
        (r"Permission denied \(publickey|Host key verification failed|ssh: .*identity", ("~/.ssh",)),
        (r"Unable to locate credentials|Could not load credentials from any provid|NoCredentialProviders", ("~/.aws",)),
        (r"Could not load the default credentials|default credentials were not found", ("~/.config/gcloud",)),
        (r"run ['\"`]?az login", ("~/.azure",)),
        (r"no configuration has been provided|current-context is not set|load kubeconfig", ("~/.kube",)),
        (r"could not read Username for '?https", ("~/.git-credentials", "~/.config/git/credentials")),
        (r"gh auth login", ("~/.config/gh",)),
        (r"docker daemon|docker\.sock|DockerException|podman\.sock", DOCKER_SOCKETS),
    )
)
# What Landlock closes as a whole. Sockets lie in /run, and the line for that folder opens them all.
_DENIED = r"(EACCES|[Pp]ermission ?denied|[Ee]rrno 13)"
_BY_LANDLOCK: tuple[tuple[re.Pattern[str], str, Access], ...] = (
    (re.compile(rf"socket\(\) failed.*{_DENIED}|(connect|listen|bind) EACCES"), "/run", "read"),
    (re.compile(rf"_?socket\.socket.*{_DENIED}", re.DOTALL), "/run", "read"),
    (re.compile(rf"(SemLock|shm_open|/dev/shm).*{_DENIED}", re.DOTALL), "/dev/shm", "write"),  # noqa: S108
    (re.compile(rf"out of pty devices|(openpty|forkpty|/dev/pts|/dev/ptmx).*{_DENIED}"), "/dev/pts", "write"),
)


def meant(text: str) -> Iterator[str]:
    """Hidden paths that an error may mean, with `~` for the home."""
    for pattern, paths in _HIDDEN:
        if pattern.search(text):
            yield from paths


def meant_by_landlock(text: str) -> Iterator[tuple[str, Access]]:
    yield from ((path, access) for pattern, path, access in _BY_LANDLOCK if pattern.search(text))
