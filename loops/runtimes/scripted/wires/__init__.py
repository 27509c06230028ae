"""The protocols of models, as their providers speak them: a request read, a reply written. One module each."""
