"""Accounts."""

from typing import Any

from github.emulator.clock import iso
from github.emulator.store.store import Store
from github.emulator.store.table import node_id
from github.emulator.store.users import User

Json = dict[str, Any]
_PREFIX = {"User": "U", "Organization": "O", "Bot": "BOT"}


def simple(store: Store, user: User) -> Json:
    """`simple-user`. The page of a bot is its App's."""
    url = f"{store.origins.api}/users/{user.login}".replace("[", "%5B").replace("]", "%5D")
    page = f"apps/{user.login.removesuffix('[bot]')}" if user.type == "Bot" else user.login
    return {
        "login": user.login,
        "id": user.id,
        "node_id": node_id(_PREFIX[user.type], user.id),
        "avatar_url": f"{store.origins.web}/avatars/{user.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{store.origins.web}/{page}",
        "followers_url": f"{url}/followers",
        "following_url": f"{url}/following{{/other_user}}",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "starred_url": f"{url}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{url}/subscriptions",
        "organizations_url": f"{url}/orgs",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "received_events_url": f"{url}/received_events",
        "type": user.type,
        "user_view_type": "public",
        "site_admin": user.site_admin,
    }


def simple_or_none(store: Store, user: User | None) -> Json | None:
    return None if user is None else simple(store, user)


def public(store: Store, user: User) -> Json:
    """`public-user`."""
    return simple(store, user) | {
        "name": user.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": user.email,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": sum(1 for r in store.repositories if r.owner is user and not r.private),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": iso(user.created_at),
        "updated_at": iso(user.created_at),
    }


def organization(store: Store, user: User) -> Json:
    """`organization-simple`, as webhooks carry it for repositories of an organisation."""
    url = f"{store.origins.api}/orgs/{user.login}"
    return {
        "login": user.login,
        "id": user.id,
        "node_id": node_id("O", user.id),
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{store.origins.web}/avatars/{user.id}",
        "description": user.name or "",
    }
