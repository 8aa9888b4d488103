# The AI Refinery SDK imports typing.override, which Python provides since 3.12.
import typing

import typing_extensions

if not hasattr(typing, "override"):
    typing.override = typing_extensions.override
