"""What the REST surface answers, as values: the document describes them, and `toolwire.client` reads them."""
