"""What every test run needs, wherever it is started from."""

import signal

from hypothesis import settings

# started in the background by a script, a run ignores Ctrl-C and so would the processes that the tests interrupt
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# time is no promise on a busy machine. The same few examples in every run; `make explore` looks at other ones
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("fixed")
