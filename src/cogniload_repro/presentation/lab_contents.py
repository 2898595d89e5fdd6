"""The contents manager of `make lab`: files on disk, notebooks with the values of the last build in their sentences."""

from pathlib import Path

import nbformat
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from traitlets import Unicode

from cogniload_repro.presentation.lab import fill_in, read_titles, read_values, take_out


class FilledIn(AsyncLargeFileManager):
    """Fills notebooks in when they are opened, and undoes it when they are saved; see `lab`."""

    build = Unicode(help="Build folder with the executed notebooks.", config=True)

    async def get(self, path, content=True, **options):
        """Return a file, a notebook filled in."""
        model = await super().get(path, content, **options)
        if content and model["type"] == "notebook":
            values = read_values(Path(self.build) / "notebooks" / Path(path).name)
            model["content"] = fill_in(model["content"], values, read_titles(Path(self.root_dir)))
        return model

    async def save(self, model, path=""):
        """Write a file, a notebook as it is committed."""
        if model["type"] == "notebook" and "content" in model:
            file = Path(self._get_os_path(path))
            committed = nbformat.read(file, as_version=4) if file.is_file() else None
            model = model | {"content": take_out(nbformat.from_dict(model["content"]), committed)}
        return await super().save(model, path)
