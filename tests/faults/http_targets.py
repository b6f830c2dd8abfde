"""HTTP targets, configured in a project, with a key that must go nowhere else."""

from tests.run.project import CONFIG, Project

KEY = "sk-sesame-0123456789"


def http(project: Project, url: str) -> dict[str, str]:
    """Configure the target `served`; the environment with its key."""
    options = f'kind = "openai"\nmodel = "m"\nbase_url = "{url}"\nkey_env = "TOKEN"\n'
    project.configure(f"{CONFIG}\n[targets.served]\n{options}")
    return {"TOKEN": KEY}
