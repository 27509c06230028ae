"""Clouds that carry another provider's protocol in a request of their own: Amazon Bedrock, Google Vertex AI."""
