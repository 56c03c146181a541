"""What is said when a Ray cluster is not there, goes away, or has no room: with a stand-in for Ray."""

import os
import socket
import sys
import types

import pytest

from gnomon.errors import ModelError, ModelWarning, UsageError
from gnomon.registry import model
from gnomon.runs import ray as module
from gnomon.runs.workers import plan_workers


class StandIn(types.SimpleNamespace):
    """As much of Ray as a site looks at before it has workers."""

    def __init__(self, port, **resources):
        super().__init__()
        self.exceptions = types.SimpleNamespace(RayError=OSError, RayTaskError=KeyError)
        self.settings, self.started = {}, False
        self.node = {"NodeID": "me", "Alive": True, "Resources": resources}
        self.context = types.SimpleNamespace(
            gcs_address=f"127.0.0.1:{port}", get_node_id=lambda: "me"
        )

    def is_initialized(self):
        return self.started

    def init(self, **settings):
        self.started, self.settings = True, settings

    def get_runtime_context(self):
        return self.context

    def nodes(self):
        return [self.node]

    def cluster_resources(self):
        return self.node["Resources"]

    def remote(self, **options):
        return lambda actor: actor


@pytest.fixture
def door():
    """A port at which somebody answers, until it is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def ray(monkeypatch, door):
    """Ray with eight processors, on a machine that has no cluster and no settings for one."""
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        monkeypatch.delenv(name)
    for name in ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "")  # so that what is set is unset again
        monkeypatch.delenv(name)
    found = StandIn(door.getsockname()[1], CPU=8.0)
    monkeypatch.setitem(sys.modules, "ray", found)
    return found


def site(text="ray", **shares):
    wanted = plan_workers(text, **shares)
    return module.RayCluster(model("random"), wanted, blind=False)


def test_there_are_as_many_workers_as_the_cluster_has_room_for_unless_the_user_says_how_many(ray):
    assert site().count == 8
    assert site(cpus=3).count == 2
    assert site("ray:20").count == 20
    ray.node["Resources"]["GPU"] = 3.0
    assert site(gpus=1).count == 3
    assert site(gpus=0.5).count == 6
    assert site(cpus=0).count == 1


def test_a_cluster_that_is_started_here_listens_to_this_machine_and_to_those_who_know_a_secret(ray):
    site("ray:20")
    assert ray.settings["address"] == "local"
    assert ray.settings["num_cpus"] >= 20
    assert ray.settings["_node_ip_address"] == "127.0.0.1"
    assert os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
    assert os.environ["RAY_AUTH_MODE"] == "token"
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64


def test_a_cluster_that_is_joined_keeps_its_own_settings(ray, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    site()
    assert ray.settings["address"] == "10.0.0.1:6379"
    assert "_node_ip_address" not in ray.settings
    assert "RAY_AUTH_MODE" not in os.environ


def test_a_share_that_no_machine_has_is_refused_here_and_waited_for_elsewhere(ray, monkeypatch):
    with pytest.raises(
        UsageError, match=r"worker with 1 CPU and 1 GPU(.|\n)*--set gpus_per_worker"
    ):
        site("ray:2", gpus=1)
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    with pytest.warns(ModelWarning, match="Waiting for one"):
        assert site("ray:2", gpus=1).count == 2


def test_a_cluster_that_cannot_be_joined_is_named(ray, monkeypatch):
    def init(**settings):
        raise ConnectionError("nobody answers.\nA long story.")

    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(
        ModelError, match=r"10\.0\.0\.1:6379\) cannot be joined: nobody answers\.\n"
    ):
        site()


def test_the_ray_client_is_refused(ray, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "ray://10.0.0.1:10001")
    with pytest.raises(UsageError, match="address of the Ray client"):
        site()


def passes(monkeypatch, looks):
    """Let so much time pass that the site looks so many times whether the cluster is there."""
    now = [module.time.monotonic()]

    def later():
        now[0] += module.PROBE + 1
        return now[0]

    monkeypatch.setattr(module.time, "monotonic", later)
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    return range(looks)


def look(found, times):
    for _ in times:
        found.check()


def test_a_cluster_that_goes_away_is_told_in_one_sentence(ray, door, monkeypatch):
    found = site()
    for _ in passes(monkeypatch, 10):
        found.check()
    door.close()
    with pytest.raises(
        ModelError, match=r"is gone\.\nWhat was answered is kept(.|\n)*same command"
    ):
        look(found, range(module.MISSES))
    found.close()
    with pytest.raises(ModelError, match="is gone"):
        site()  # the next run of the same command


def test_a_cluster_that_has_lost_this_machine_is_gone_for_it(ray, monkeypatch):
    found = site()
    ray.node["Alive"] = False
    with pytest.raises(ModelError, match="is gone"):
        look(found, passes(monkeypatch, module.MISSES))


def test_one_missed_look_is_no_death(ray, monkeypatch):
    found = site()
    for look in passes(monkeypatch, 20):
        ray.node["Alive"] = look % 2 == 0
        found.check()
