"""What no server sees unless a line opens it: credentials, histories, browser profiles, the settings of other clients,
agents' sockets, and Windlass's own data. A list, with a test for each entry."""

import os
import stat
from collections.abc import Iterable
from glob import glob

IN_HOME = (
    *(".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".oci", ".netrc", ".pgpass", ".my.cnf", ".vault-token"),
    *(".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".config/git/credentials", ".config/gh"),
    *(".config/glab-cli", ".config/hub", ".config/gcloud", ".config/rclone", ".config/op", ".config/doctl"),
    *(".1password", ".terraform.d", ".password-store", ".step", ".config/pip", ".config/uv", ".config/containers"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml"),
    *(".gradle/gradle.properties", ".local/share/uv/credentials", ".local/share/containers"),
    *(".local/share/keyrings", ".local/share/kwalletd", ".config/kwalletrc", ".pki"),
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"),
    *(".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium", ".var/app"),
    *(".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history"),
    *(".sqlite_history", ".rediscli_history", ".irb_history", ".lesshst", ".viminfo", ".local/share/fish"),
    *(".local/share/atuin", ".Xauthority", ".ICEauthority", ".screen", ".emacs.d/server", ".vscode-server"),
    *(".local/share/jupyter/runtime", ".huggingface", ".cache/huggingface/token", ".kaggle", ".s3cfg", ".boto"),
    *(
        ".config/sops",
        ".config/age",
        ".databrickscfg",
        ".config/stripe",
        ".fly",
        ".config/hcloud",
        ".composer/auth.json",
    ),
    *(".claude", ".claude.json", ".config/Claude", ".cursor", ".codeium", ".codex", ".gemini", ".continue"),
    *(".config/Code", ".config/VSCodium", ".config/zed", ".config/goose", ".lmstudio", ".vscode"),
    *(".colima", ".orbstack", ".lima", ".config/systemd", ".config/autostart"),
)
IN_SYSTEM = (
    *("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers"),
    *("/etc/sudoers.d", "/etc/NetworkManager/system-connections", "/etc/kubernetes", "/etc/krb5.keytab"),
    *("/etc/letsencrypt", "/etc/wireguard", "/etc/openvpn", "/etc/pki/tls/private", "/etc/rancher"),
    *("/etc/ssh/ssh_host_*_key", "/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/spool/cron"),
)
# All else in /run is private: the sockets of Docker, D-Bus and agents, the secrets of services, /run/user.
RUN_KEPT = (
    *("systemd/resolve", "resolvconf", "NetworkManager/resolv.conf", "NetworkManager/no-stub-resolv.conf", "connman"),
    *("nscd", "sssd", "postgresql", "mysqld", "mariadb", "redis", "opengl-driver", "current-system"),
    *("booted-system", "wrappers"),
)
_SOCKETS_KEPT = tuple(f"/{name}/" for name in (*RUN_KEPT, "memcached", "avahi-daemon"))
_LISTENS = 0x10000


def hidden_paths(home: str, data: str, more: Iterable[str] = ()) -> list[str]:
    """Those that exist, with links resolved (`~/.aws` may lead to `~/dotfiles/aws`), none inside another."""
    names = [
        *(f"{home}/{name}" for name in IN_HOME),
        *(path for pattern in IN_SYSTEM for path in glob(pattern) if os.access(path, os.R_OK)),
        *more,
        *listening_sockets(),
    ]
    real = {os.path.realpath(name) for name in names if os.path.lexists(name)}
    real = {path for path in real if os.path.exists(path) and path not in ("/", home)} | {data}
    return sorted(path for path in real if not any(path != other and is_under(path, other) for other in real))


def listening_sockets() -> list[str]:
    """Sockets in the file system somebody listens on: a read-only mount does not stop a connection."""
    try:
        with open("/proc/net/unix", errors="replace") as file:
            lines = file.read().splitlines()[1:]
    except OSError:
        return []
    found = set()
    for line in lines:
        fields = line.split(None, 7)
        if len(fields) < 8 or not fields[7].startswith("/") or not int(fields[3], 16) & _LISTENS:
            continue
        if not any(name in fields[7] for name in _SOCKETS_KEPT):
            found.add(fields[7])
    return sorted(found)


def is_socket(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)


def is_under(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
