"""The `cogniload` command: the steps that the Makefile chains, each also usable alone."""

import click

from cogniload_repro import __version__
from cogniload_repro.commands import (
    answers,
    chain,
    inputs,
    outputs,
    params,
    puzzles,
    render,
)
from cogniload_repro.files import describe_error
from cogniload_repro.safe_text import for_terminal


class _Group(click.Group):
    """Turns bad input into one sentence on standard error and exit code 2."""

    def invoke(self, ctx: click.Context):
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # a program such as `head` has closed the pipe; click ends silently
        except click.UsageError as error:
            raise click.UsageError(
                for_terminal(error.format_message()), error.ctx
            ) from None
        except (ValueError, OSError, MemoryError) as error:
            raise _Refusal(for_terminal(describe_error(error))) from error
        except KeyboardInterrupt:
            raise _Interrupted(
                "interrupted; run the same command again to finish"
            ) from None


class _Refusal(click.ClickException):
    exit_code = 2


class _Interrupted(click.ClickException):
    exit_code = 130


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__)
@click.pass_context
def main(context: click.Context) -> None:
    """Rebuild every table and figure of the CogniLoad paper (ICLR 2026).

    The steps, in order: download-outputs, score, fit, render. `make reproduce` runs
    them all.
    """
    values = params.read_file()
    steps = ("parameters", "download-outputs", "render")
    context.default_map = dict.fromkeys(steps, values)


for _module in (outputs, chain, render, puzzles, answers, inputs):
    for _command in vars(_module).values():
        if isinstance(_command, click.Command):
            main.add_command(_command)
