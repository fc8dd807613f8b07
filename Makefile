# ContactMesh: 'make' alone tells what there is to do. Everything can be run again and again.

.DEFAULT_GOAL := help
.PHONY: help setup check judges test demo up bench clean
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# Written last by the setup of Python, with the folder it was made for: a virtual environment does
# not survive being moved.
COMPLETE := .venv/.complete
ifneq "$(shell cat $(COMPLETE) 2>/dev/null)" "$(CURDIR)"
.PHONY: $(COMPLETE)
endif

help:
	@echo 'ContactMesh: change your number once, and every phonebook you allow is right.'
	@echo
	@echo '  make demo    see it work: a whole system, 20 people, two groups, changed numbers'
	@echo '  make test    run the whole test suite on a real broker and a real database'
	@echo '  make up      start a system here and keep it; Ctrl-C stops it'
	@echo
	@echo '  make check   style, types, import rules, known vulnerabilities'
	@echo '  make bench   measure it (tests/benchmarks)'
	@echo '  make setup   only set up: .venv from requirements.lock, RabbitMQ if it is missing'
	@echo '  make judges  fetch the vCard readers in JavaScript that the tests ask, with npm'
	@echo '  make clean   remove .venv and caches; the data of your systems stays'
	@echo
	@echo 'The first run of any of them sets up what it needs (Python 3.11 or newer, with venv).'
	@echo 'AMQP_URL and MONGODB_URL make them use servers of yours. More: .venv/bin/contactmesh --help'

$(COMPLETE): requirements.lock pyproject.toml
	@sh deploy/local/setup.sh python

setup: $(COMPLETE)
	@sh deploy/local/setup.sh broker
	@$(if $(filter setup,$(MAKECMDGOALS)),echo 'All is set up. See it work: make demo',:)

check: $(COMPLETE)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy shared services tests docs/render_readme.py deploy/local/audit.py
	.venv/bin/lint-imports
	@.venv/bin/python deploy/local/audit.py

test: setup judges
	.venv/bin/pytest -n 2

# Readers of vCards in JavaScript, whom the tests ask for a second opinion where Node.js is there.
judges:
	@if ! command -v npm >/dev/null; then \
		echo 'No npm here: the tests do without the vCard readers in JavaScript.'; \
	elif ! npm ci --silent --no-audit --no-fund --prefix tests/judges; then \
		echo 'npm could not fetch the vCard readers in JavaScript: the tests do without them.'; fi

demo: setup
	@.venv/bin/contactmesh demo

up: setup
	@.venv/bin/contactmesh up

bench: setup
	@.venv/bin/python -m tests.benchmarks

clean:
	rm -rf .venv build dist tests/judges/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find shared services tests -name __pycache__ -prune -exec rm -rf {} +
