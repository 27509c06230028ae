"""The entry point of PostgreSQL's image, in short: `postgres_image.py BINARIES ADDRESS`, with the image's variables."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

binaries, address = Path(sys.argv[1]), sys.argv[2]
data, user = Path(os.environ["PGDATA"]), os.environ["POSTGRES_USER"]
if os.getuid() == 0:  # PostgreSQL refuses to run as root; in the chart's pod it runs as 70
    nobody = pwd.getpwnam("nobody")
    os.chown(data.parent, nobody.pw_uid, nobody.pw_gid)
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
os.chdir(data.parent)
data.mkdir(exist_ok=True)
data.chmod(0o700)  # as the image does: what fsGroup adds to it, PostgreSQL refuses
if not (data / "PG_VERSION").exists():
    word = data.parent / "password"
    word.write_text(os.environ["POSTGRES_PASSWORD"])
    how = ["-U", user, "--auth-host=scram-sha-256", f"--pwfile={word}", "-N", "--encoding=UTF8", "--locale=C"]
    subprocess.run([binaries / "initdb", "-D", data, *how], check=True)
    word.unlink()
    statement = f"CREATE DATABASE {os.environ['POSTGRES_DB']};\n"
    subprocess.run([binaries / "postgres", "--single", "-D", data, "postgres"], input=statement, text=True, check=True)
options = ["-c", "unix_socket_directories=", "-c", "fsync=off", "-c", f"listen_addresses={address}", "-p", "5432"]
os.execv(binaries / "postgres", [str(binaries / "postgres"), "-D", str(data), *options])  # noqa: S606  as the image does
