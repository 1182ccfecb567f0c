# pluriverse. `make` alone lists what there is to make.

RUNTIME ?= gym-core
ENV ?=
VNC_PORT ?= 5900
REWARDER_PORT ?= 15900
PASSWORD ?=
AGENT ?=
DISPLAY_BACKEND ?= xvfb
BASE ?= debian:trixie-slim
SNAPSHOT ?=
N ?= 2
TESTS ?= tests
# Tests wait more than they compute.
WORKERS ?= $(shell expr 2 '*' $$(nproc))

PY := .venv/bin/python
RUNTIMES := $(notdir $(wildcard runtimes/*))
IMAGE := pluriverse/$(RUNTIME)
PYTEST := $(PY) -m pytest --numprocesses=$(WORKERS) --dist=worksteal
# The registries that image builds reach are the host's: a bridge network may have no name resolution.
DOCKER_BUILD := DOCKER_BUILDKIT=1 docker build --network=host
export PLURIVERSE_ENV := $(ENV)
export PLURIVERSE_PASSWORD := $(PASSWORD)

.DEFAULT_GOAL := help
.PHONY: help run demo setup setup-dev setup-all assets test test-all nightly examples lint format bench faults matrix image images wheels test-image test-wheels site gallery up down docs film lock clean

help:  ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '%s\n' '' 'Variables, with their defaults:' \
	  '  RUNTIME=gym-core ($(RUNTIMES))  ENV=…  PASSWORD=…  VNC_PORT=5900  REWARDER_PORT=15900  DISPLAY_BACKEND=xvfb|xvnc' \
	  '  AGENT=random (plays what make run runs)' \
	  '  N=2 (remotes of make up)  TESTS=tests (what make test runs)  WORKERS=$(WORKERS) (how many tests at once)' \
	  '  PYTHON=… (3.11 or newer)  BASE=debian:trixie-slim@sha256:…  SNAPSHOT=http://…/archive/debian/20261101T000000Z/ (of images)'

run: setup  ## Run a remote on this machine, without Docker, until Ctrl-C
	@exec tools/run $(RUNTIME) $(VNC_PORT) $(REWARDER_PORT) $(DISPLAY_BACKEND) '$(AGENT)'

demo: setup  ## Play four games at once and show them in one browser page
	@exec .venv/bin/pluriverse demo --remotes local:1

setup:  # All that make run needs
	@tools/setup run $(RUNTIME)

setup-dev:  # All that tests, lint and bench need
	@tools/setup dev

setup-all:  # The same, and the trainers
	@tools/setup all

assets:  ## Fetch the viewer's packages (noVNC) from the npm registry
	@tools/setup run $(RUNTIME)

test: setup-dev  ## Run the tests of every part, in minutes
	$(PYTEST) -m 'not slow and not rllib and not container' $(TESTS)

test-all: setup-all  ## Run all tests but those that take hours, building the images that some need meanwhile
	@tools/test-all $(PYTEST) $(TESTS)

nightly: setup-all  ## Run the tests that take hours, and inject faults; writes bench/kept.json and bench/faults.json
	.venv/bin/pluriverse-server doctor bench/matrix --install
	bench/matrix/own/wine.sh bench/matrix/wine
	$(PY) -m pytest --numprocesses=0 -m nightly $(TESTS)
	PLURIVERSE_RFB=python $(PYTEST) -m 'not container' tests/client/env tests/client/wrappers tests/client/vnc
	tools/resolve-trainers
	$(PY) bench/faults.py
	$(PY) bench/readme.py
	$(MAKE) examples QUICK=1

# What they write; docs/curves/ has what docs/examples.md shows.
LEARNT := dist/examples
examples: DATASETS = MINARI_DATASETS_PATH=$(CURDIR)/$(LEARNT)
examples: setup-dev  ## Let the examples learn, in an hour; QUICK=1: each for a minute
	rm -rf $(LEARNT) && mkdir -p $(LEARNT)
	$(PY) examples/ppo_pong.py $(if $(QUICK),--steps 50000) --save $(LEARNT)/ppo_pong.pt --curve $(LEARNT)/ppo_pong.json
	$(PY) examples/moon_buggy.py $(if $(QUICK),--episodes 40) --save $(LEARNT)/moon_buggy.npy --curve $(LEARNT)/moon_buggy.json
	$(PY) examples/clone_clicks.py $(if $(QUICK),--seconds 20) --teach $(LEARNT)/clicks.plrec
	$(DATASETS) .venv/bin/pluriverse export $(LEARNT)/clicks.plrec --minari clicks/script-v0 --fps 10 --actions pointer
	$(DATASETS) $(PY) examples/clone_clicks.py $(if $(QUICK),--epochs 5) --learn clicks/script-v0 \
	  --save $(LEARNT)/clone_clicks.pt --curve $(LEARNT)/clone_clicks.json --play 20
	$(PY) examples/go_explore.py --env desktop.Vitetris-v0 --cells 300 --steps $(if $(QUICK),1000,6000)
	$(PY) examples/search_2048.py $(if $(QUICK),--moves 10 --seeds 1)
	$(PY) examples/group_rollouts.py $(if $(QUICK),--updates 3) --curve $(LEARNT)/group_rollouts.json

lint: setup-dev  ## Check style, types, layers and generated documentation
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/pyright
	.venv/bin/lint-imports
	$(PY) docs/generate.py --check
	$(PY) bench/readme.py --check
	@tag=$$(git describe --tags --abbrev=0 2>/dev/null) || exit 0; .venv/bin/griffe check pluriverse --search client/src --against $$tag

format: setup-dev  ## Format and fix with ruff
	.venv/bin/ruff check --fix
	.venv/bin/ruff format

bench: setup-dev  ## Measure every speed in the README; writes bench/results.json
	$(PY) bench/run.py
	$(PY) bench/readme.py

faults: setup-dev  ## Inject 500 faults into remotes; writes bench/faults.json, in a quarter of an hour
	$(PY) bench/faults.py
	$(PY) bench/readme.py

matrix: setup-dev  ## Play the programs of bench/matrix in both kinds of time; writes bench/matrix.json, in an hour
	.venv/bin/pluriverse-server doctor bench/matrix --install
	$(PY) bench/matrix.py
	$(PY) bench/readme.py

image:  ## Build the image pluriverse/$RUNTIME
	@docker info >/dev/null 2>&1 || { echo 'make image needs a running Docker engine: docker info fails' >&2; exit 1; }
	list=runtimes/$(RUNTIME)/debian.txt layer=server; \
	if grep -qs '^[^#:]*:chromium$$' $$list; then layer=browser; elif grep -qs '^[^#:]*:[^ ]*$$' $$list; then layer=programs; fi; \
	$(DOCKER_BUILD) --build-arg BASE=$(BASE) --build-arg SNAPSHOT=$(SNAPSHOT) --build-arg RUNTIME=$(RUNTIME) \
	  --build-arg LAYER=$$layer --build-arg VERSION=$$(sed -n 's/^version = "\(.*\)"$$/\1/p' runtimes/$(RUNTIME)/runtime.toml) \
	  --tag $(IMAGE) .

images:  ## Build the images of all runtimes
	@for runtime in $(RUNTIMES); do $(MAKE) --no-print-directory image RUNTIME=$$runtime || exit 1; done

wheels:  ## Build all distributions into dist/, in a container
	@docker info >/dev/null 2>&1 || { echo 'make wheels needs a running Docker engine: docker info fails' >&2; exit 1; }
	$(DOCKER_BUILD) --build-arg BASE=$(BASE) --build-arg SNAPSHOT=$(SNAPSHOT) --target wheels --output dist .

test-image: setup-dev  ## Test containers of gym-core's image
	$(PY) -m pytest -m container tests/e2e/test_image.py "tests/e2e/test_runtime_images.py::test_image_keeps_gymnasiums_contract[gym-core]"

test-wheels: setup-dev  ## Build the wheels and try them in bare containers
	$(PY) -m pytest -m container tests/e2e/test_wheels.py

up: image  ## Start N remotes in containers with compose, and list their addresses
	docker compose up --detach --wait --scale remote=$(N)
	@docker compose ps --format 'table {{.Name}}\t{{.Status}}\t{{.Ports}}'
	@docker compose logs --no-color remote | grep ' password ' || true  # none where there are tokens alone

down:  ## Stop and remove them
	docker compose down --timeout 5

docs: setup-dev  ## Regenerate the generated parts of docs/
	$(PY) docs/generate.py

site: setup-dev  ## Build the site into dist/site
	PATH=$(CURDIR)/.venv/bin:$$PATH NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet

gallery: setup-dev  ## Take pictures of each family of environments, and of each task, for the site
	$(PY) docs/gallery.py

film: setup-dev  ## Film four games in the viewer for the README, and picture one
	PYTHONPATH=tests $(PY) docs/film.py

lock: setup-dev  ## Resolve all dependencies into requirements.lock
	.venv/bin/uv pip compile -q --universal --generate-hashes --python-version 3.11 --no-header \
	  $(foreach name,pluriverse pluriverse-authoring pluriverse-eval pluriverse-protocol pluriverse-server,--no-emit-package $(name)) \
	  */pyproject.toml runtimes/*/pyproject.toml \
	  $(foreach group,build wheels assets test torch bench lint site,--group pyproject.toml:$(group)) \
	  --override tools/not-locked.txt --no-emit-package torch -o requirements.lock

clean:  ## Remove build results and caches
	rm -rf .venv node_modules runtimes/*/vendor dist .pytest_cache .ruff_cache .hypothesis server/src/pluriverse_server/viewer/static/vendor server/src/pluriverse_server/sources/page/vendor
