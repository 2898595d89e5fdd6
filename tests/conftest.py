"""What every test run needs, wherever it is started from."""

import signal

from hypothesis import settings

# started in the background by a script, a run ignores Ctrl-C and so would the processes that the tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# how long an example takes says how busy the machine is
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
