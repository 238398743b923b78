# SPDX-License-Identifier: Apache-2.0
"""Progress bars with tqdm, if it is installed."""
from __future__ import annotations

import sys
from typing import Any, Dict, List, Optional


class ProgressBar:
    """Shows the stage of a job. `wanted` None: only in notebooks and terminals."""

    def __init__(self, wanted: Optional[bool]) -> None:
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        shown = wanted if wanted is not None else "ipykernel" in sys.modules or sys.stderr.isatty()
        self._make = tqdm if shown else None

    def show(self, progress: List[Dict[str, Any]]) -> None:
        """Shows the latest of the reports of a job."""
        if self._make is None or not progress:
            return
        latest = progress[-1]
        if self._bar is None:
            self._bar = self._make(leave=False)
        self._bar.set_description(latest["stage"], refresh=False)
        self._bar.total = latest["total"] or None
        self._bar.n = latest["done"]
        self._bar.refresh()

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
