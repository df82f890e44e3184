"""Every speed claim, as a script that runs both sides in one process."""

import pencil as pencil  # before torch and numpy, as a program of ours does: it says how numpy's threads wait
