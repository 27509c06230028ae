"""Git LFS: objects go beside git, and a push whose objects are missing is refused."""

import base64
import hashlib
from typing import Any

import httpx

from tests.github.emulator.house import House

CONTENT = b"large\x00" * 100
OID = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENT)}\n"
MEDIA = "application/vnd.git-lfs+json"


async def batch(house: House, token: str | None, operation: str, **more: Any) -> httpx.Response:
    url = f"{house.local.web_url}/acme/widgets.git/info/lfs/objects/batch"
    body = {"operation": operation, "transfers": ["basic"], "objects": [{"oid": OID, "size": len(CONTENT)}]} | more
    headers = {"Accept": MEDIA, "Content-Type": MEDIA}
    if token:
        headers["Authorization"] = f"Basic {base64.b64encode(f'x-access-token:{token}'.encode()).decode()}"
    return await house.http.post(url, json=body, headers=headers)


async def verify(house: House, actions: dict[str, Any], size: int = len(CONTENT)) -> int:
    action = actions["verify"]
    headers = {"Accept": MEDIA, **action["header"]}
    return (await house.http.post(action["href"], json={"oid": OID, "size": size}, headers=headers)).status_code


async def test_an_object_is_put_on_the_second_origin_once_and_got_from_there(house: House) -> None:
    token = await house.token()
    absent = (await batch(house, token, "download")).json()["objects"][0]
    assert absent["error"]["code"] == 404
    answer = await batch(house, token, "upload")
    assert answer.headers["content-type"] == MEDIA and answer.json()["transfer"] == "basic"
    actions = answer.json()["objects"][0]["actions"]
    upload = actions["upload"]
    assert upload["href"].startswith(house.local.logs_url)
    async with httpx.AsyncClient() as other:
        wrong = await other.put(upload["href"], content=b"else", headers=upload["header"])
        credentials = {**upload["header"], "Authorization": "token x"}
        told = await other.put(upload["href"], content=CONTENT, headers=credentials)
        right = await other.put(upload["href"], content=CONTENT, headers=upload["header"])
        assert (wrong.status_code, told.status_code, right.status_code) == (400, 400, 200)
        assert "actions" in (await batch(house, token, "upload")).json()["objects"][0]
        assert await verify(house, actions, size=1) == 422
        assert await verify(house, actions) == 200
        assert "actions" not in (await batch(house, token, "upload")).json()["objects"][0]
        download = (await batch(house, token, "download")).json()["objects"][0]["actions"]["download"]
        assert (await other.get(download["href"])).content == CONTENT


async def test_only_who_may_push_uploads(house: House) -> None:
    nobody = await batch(house, None, "download")
    assert nobody.status_code == 401 and "lfs-authenticate" in nobody.headers
    reader = await house.token(permissions={"contents": "read"})
    assert (await batch(house, reader, "upload")).status_code == 403
    assert (await batch(house, reader, "download")).status_code == 200
    assert (await batch(house, reader, "purge")).status_code == 422
    assert (await batch(house, reader, "download", objects=[])).status_code == 422


async def test_a_push_of_a_pointer_without_its_object_is_refused(house: House) -> None:
    token, work = await house.token(), house.folder / "w"
    house.git("clone", "--quiet", house.clone_url(token), str(work))
    (work / "big.bin").write_text(POINTER)
    house.git("add", "--all", cwd=work)
    house.git("commit", "--quiet", "-m", "big", cwd=work)
    refused = house.git("push", "origin", "HEAD:refs/heads/big", cwd=work)
    assert "GH008: Your push referenced at least 1 unknown Git LFS object" in refused.stderr and OID in refused.stderr
    actions = (await batch(house, token, "upload")).json()["objects"][0]["actions"]
    assert await verify(house, actions) == 404
    async with httpx.AsyncClient() as other:
        await other.put(actions["upload"]["href"], content=CONTENT, headers=actions["upload"]["header"])
    assert await verify(house, actions) == 200
    assert house.git("push", "origin", "HEAD:refs/heads/big", cwd=work).returncode == 0
