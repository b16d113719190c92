"""What a browser calls itself, in words that its owner recognises in a list."""

BROWSERS = {  # the first that is named: each also names those below it
    "Edg": "Edge",
    "OPR": "Opera",
    "Firefox": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome": "Chrome",
    "Safari": "Safari",
}
SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "CrOS": "ChromeOS",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "Linux": "Linux",
}
LENGTH = 60


def browser_name(agent: str) -> str:
    browser = next((name for mark, name in BROWSERS.items() if mark + "/" in agent), "")
    system = next((name for mark, name in SYSTEMS.items() if mark in agent), "")
    if browser and system:
        return f"{browser} on {system}"
    plain = "".join(letter if letter.isprintable() else " " for letter in agent)
    return browser or system or plain[:LENGTH] or "Unknown browser"
