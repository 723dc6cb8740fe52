# For OpenBench, which builds an engine by `make EXE=path`: an environment beside EXE, and EXE to start the engine in it.
# For everything else README.md has the commands.
EXE ?= secateur-openbench
PYTHON ?= python3
ENVIRONMENT = $(abspath $(dir $(EXE)))/.$(notdir $(EXE))

.PHONY: all
all:
	$(PYTHON) -m venv "$(ENVIRONMENT)"
	"$(ENVIRONMENT)/bin/pip" install --quiet .
	printf '#!/bin/sh\nexec "%s/bin/secateur" "$$@"\n' "$(ENVIRONMENT)" > "$(EXE)"
	chmod +x "$(EXE)"
