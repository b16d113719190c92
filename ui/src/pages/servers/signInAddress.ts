const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Where somebody types a password: https, or http to this machine. */
export function opensSafely(address: string): boolean {
  try {
    const { protocol, hostname } = new URL(address);
    return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
  } catch {
    return false;
  }
}
