"""The errors of the client."""


class KeelsonError(Exception):
    """`code` is stable: a code of the protocol, or server-key-mismatch, log-invalid, outbox-failed,
    invalid-parameter, invalid-rows, command-missing, transport-failed or closed. The text is for people."""

    def __init__(self, code: str, text: str = "") -> None:
        super().__init__(f"{code}: {text}" if text else code)
        self.code = code
        self.text = text
