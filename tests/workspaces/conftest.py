from tests.workspaces.shop import shop

__all__ = ["shop"]
