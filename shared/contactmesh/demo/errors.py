"""What can keep the demo from being played to its end."""


class DemoFailed(Exception):
    """Something did not happen in time; the text is one line that says what."""
