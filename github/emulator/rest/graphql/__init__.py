"""The part of GitHub's GraphQL that is answered here."""
