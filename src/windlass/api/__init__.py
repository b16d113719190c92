"""The contract: schemas, routes and event names, for web, client and services alike. Imports core alone."""
