"""The inside of aiomqtt and paho that the wire reaches for. When an upgrade moves it, this says so first."""

import inspect

import aiomqtt
import pytest
from paho.mqtt.client import Client, MQTTErrorCode


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("_packet_read", ["self"]),
        ("_loop_rc_handle", ["self", "rc"]),
        ("_packet_queue", ["self", "command", "packet", "mid", "qos", "info"]),
        ("_sock_close", ["self"]),
        ("_create_socket", ["self"]),
        ("_mid_generate", ["self"]),
        ("_handle_publish", ["self"]),
        ("_handle_pubackcomp", ["self", "cmd"]),
        ("loop_write", ["self"]),
        ("want_write", ["self"]),
    ],
)
def test_paho_has_what_the_wire_calls(name, parameters):
    assert list(inspect.signature(getattr(Client, name)).parameters) == parameters


@pytest.mark.parametrize("name", ["_misc_loop", "_on_connect", "_on_socket_close", "_on_socket_unregister_write"])
def test_aiomqtt_has_what_the_wire_calls(name):
    assert callable(getattr(aiomqtt.Client, name))


async def _attributes():
    client = aiomqtt.Client("nowhere")
    return {**vars(client), **{f"paho.{name}": value for name, value in vars(client._client).items()}}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_both_keep_their_state_where_the_wire_looks(anyio_backend):
    attributes = await _attributes()
    assert {
        "_client",
        "_misc_task",
        "paho._last_bytes_received",
        "paho._ping_t",
        "paho._in_packet",
    } <= attributes.keys()
    assert MQTTErrorCode.MQTT_ERR_AGAIN < 0 == MQTTErrorCode.MQTT_ERR_SUCCESS
