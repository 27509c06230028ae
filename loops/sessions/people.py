"""People as a session names them."""


def asked_by(trigger: str, login: str) -> str:
    """Who, or what, started a turn."""
    return "red checks" if trigger == "checks" else f"{login or 'Greenloop'} ({trigger.replace('_', ' ')})"
