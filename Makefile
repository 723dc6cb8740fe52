# For OpenBench, which builds an engine by `make EXE=name` in a folder that it deletes, and keeps EXE alone: the engine is
# installed in an environment at home, and EXE starts it there. OpenBench ends engines by that name in their command line.
# For everything else README.md has the commands.
EXE ?= secateur-openbench
PYTHON ?= python3
ENVIRONMENT = $(HOME)/.cache/secateur-openbench/$(notdir $(EXE))

.PHONY: all
all:
	$(PYTHON) -m venv --clear "$(ENVIRONMENT)"
	"$(ENVIRONMENT)/bin/pip" install --quiet .
	printf '#!/bin/sh\nexec "%s/bin/secateur" "$$@"\n' "$(ENVIRONMENT)" > "$(EXE)"
	chmod +x "$(EXE)"
