"""Settings: a TOML file, then the environment, then flags; each overrides the one before."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_origin

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import from_json, to_json
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import SettingsError as PydanticSettingsError

from beforehand import limits
from beforehand.errors import SettingsError
from beforehand.messages import shape, topics
from beforehand.messages.values import Coefficients, Identifier, Misfit, Share

ENVIRONMENT_PREFIX = "BEFOREHAND_"
NO_MODEL = "none"
"""`policy.model` for rules alone."""
DEFAULT_FILE = Path("beforehand.toml")


class Section(BaseModel):
    """Base of the sections; an unknown key is an error, so that a typing mistake is found."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BrokerSettings(Section):
    """Where the broker is. Neither `host` nor `socket`: one is started on loopback."""

    host: str | None = Field(None, description="name or address of the broker")
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(None, description="default 1883, with TLS 8883")
    socket: Path | None = Field(None, description="Unix socket of the broker, instead of host and port")
    protocol: Literal["5", "3.1.1"] = Field("5", description="MQTT version")
    username: str | None = Field(None, description="user name at the broker")
    password: SecretStr | None = Field(None, description="password at the broker; better in the environment")
    tls: bool = Field(default=False, description="speak TLS")
    tls_ca: Path | None = Field(None, description="CA certificates (PEM); left out: those of the system")
    tls_cert: Path | None = Field(None, description="client certificate (PEM)")
    tls_key: Path | None = Field(None, description="key of the client certificate (PEM)")
    root: str = Field(topics.ROOT, description="first levels of every topic")
    name: Identifier = Field("main", description="this daemon's name: its client ids and its status topic")
    embedded: Literal["auto", "mosquitto", "iotcore"] = Field(
        "auto", description="which broker to start if none is named"
    )
    embedded_port: Annotated[int, Field(ge=0, le=65535)] = Field(
        1883, description="its port on 127.0.0.1; 0: any free one"
    )

    @field_validator("root")
    @classmethod
    def _root_is_a_topic(cls, root: str) -> str:
        if not topics.is_name(root) or root.startswith(("/", "$")) or root.endswith("/"):
            raise Misfit(f"{root!r} cannot start a topic", f"give levels such as {topics.ROOT}, without wildcards")
        return root

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.socket is not None and (self.host is not None or self.port is not None):
            raise Misfit("both a socket and a host or port", "keep one of them", "socket")
        if (self.tls_cert is None) is not (self.tls_key is None):
            given, absent = ("tls_key", "tls_cert") if self.tls_cert is None else ("tls_cert", "tls_key")
            raise Misfit(f"{given} without {absent}", "a client certificate needs both files", absent)
        return self


class JournalSettings(Section):
    """Where the journal is and how it commits."""

    path: Path = Field(Path("beforehand.sqlite3"), description="SQLite file; `:memory:` keeps nothing")
    commit_messages: Annotated[int, Field(ge=1, le=limits.BATCH_MESSAGES)] = Field(
        limits.BATCH_MESSAGES, description="most messages of one group commit"
    )
    commit_age_s: Annotated[float, Field(ge=0, le=1)] = Field(
        0.01,
        description="how long a commit waits for company; 0: it takes what has come behind the running one",
    )


class PolicySettings(Section):
    """What a packet may cost and when it is worth sending."""

    name: str = Field("default", description="its name, which stands in every packet")
    horizon: Annotated[int, Field(ge=1, le=limits.HORIZON_MAX)] = Field(2, description="coming steps prepared at once")
    budget_tokens: Annotated[int, Field(ge=0, le=limits.BUDGET_TOKENS_MAX)] = Field(
        512, description="most tokens of a packet, wrapper included; 0: no packets"
    )
    window_events: Annotated[int, Field(ge=0)] = Field(
        0, description="newest events that the agent still sees; 0: unknown"
    )
    appetite: Literal["frugal", "balanced", "generous"] = Field(
        "balanced", description="how readily something is said; sets `threshold`, `token_price` and `bar`"
    )
    threshold: Share | None = Field(None, description="least probability of an item")
    token_price: Annotated[float, Field(ge=0)] | None = Field(None, description="probability that a token has to earn")
    rule_share: Share = Field(0.05, description="how far what a rule claims counts beside the model's probability")
    bar: Share | None = Field(None, description="probability that the best item needs for anything to be said")
    workflows: bool = Field(default=True, description="say what earlier runs teach: missing and next calls, failures")
    epsilon: Share = Field(0.0, description="share of the steps that are told nothing, to learn what packets are worth")
    model: str = Field(
        "default",
        description="`default`: the promoted trigger model, the shipped one while none is; else one by name or folder; "
        "`none`: rules alone",
    )
    packs: list[str] = Field(["core"], description="rule packs, by name (shipped) or path (.yaml)")
    gap_wait_s: Annotated[float, Field(ge=0, le=1)] = Field(
        0.02, description="how long a step waits for messages that its counter says are on the way"
    )


class ModelsSettings(Section):
    """The registry of trigger models."""

    folder: Path = Field(Path(".beforehand/models"), description="where promoted models are kept")
    look_every_s: Annotated[float, Field(ge=0.05)] = Field(
        1.0, description="how often a running daemon looks whether another model was promoted"
    )


class MemorySettings(Section):
    """What is kept in memory."""

    agents_hot: Annotated[int, Field(ge=1)] = Field(limits.AGENTS_HOT, description="agents kept, the newest used")
    bytes: Annotated[int, Field(ge=1_000_000)] = Field(limits.MEMORY_BYTES, description="what they take, estimated")
    agent_events: Annotated[int, Field(ge=100)] = Field(
        limits.AGENT_EVENTS, description="events of one agent kept with their words; older ones are cold"
    )
    segments_bytes: Annotated[int, Field(ge=0)] = Field(limits.SEGMENTS_BYTES, description="disk for segments; 0: none")
    tree_weights: Coefficients = Field([1.0, 1.0, 0.5, 0.5], description="of importance, recency, confidence, use")
    tree_live_nodes: Annotated[int, Field(ge=1)] = Field(512, description="live nodes of a run's weighted tree")


class PathRuleSettings(Section):
    """Where facts stand in the results of a tool."""

    tool: Annotated[str, Field(min_length=1)] = Field(description="name of the tool; `*` stands for any part of it")
    each: str = Field("", description="the records in the result, such as `orders.*`; left out: the result itself")
    subject: Annotated[str, Field(min_length=1)] = Field(
        description="what the facts are about, with fields of the record: `order {order_id}`"
    )
    attributes: Annotated[list[str], Field(min_length=1)] = Field(
        description="fields of the record that are facts; dots for inner ones"
    )


class FactsSettings(Section):
    """Where facts come from beside `facts` of events."""

    statements: bool = Field(
        default=True, description="whether what users say of themselves (preferences, budgets, ...) becomes facts"
    )
    paths: list[PathRuleSettings] = Field([], description="rules that find facts in the results of tools")


class ExperimentSettings(Section):
    """Where experiments are."""

    folder: Path = Field(Path("experiments"), description="folder of their definitions, and of what was started")


class EmbedderSettings(Section):
    """What turns text into vectors."""

    kind: Literal["static", "hashing", "none"] = Field(
        "static", description="static token table, hashed n-grams, or no vectors"
    )


class HttpSettings(Section):
    """Where `up` serves its health and its metrics over HTTP."""

    host: str = Field("127.0.0.1", description="address that listens; whoever reaches it can read health and metrics")
    port: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        None, description="port of /healthz, /readyz and /metrics; left out: not served; 0: any free one"
    )


class Settings(BaseSettings):
    """All settings. Environment: BEFOREHAND_BROKER__HOST and so on."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, toml_file=None
    )

    broker: BrokerSettings = BrokerSettings()
    journal: JournalSettings = JournalSettings()
    policy: PolicySettings = PolicySettings()
    models: ModelsSettings = ModelsSettings()
    memory: MemorySettings = MemorySettings()
    facts: FactsSettings = FactsSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    experiments: ExperimentSettings = ExperimentSettings()
    http: HttpSettings = HttpSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags over environment over file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load(file: Path | None = None, **flags: Any) -> Settings:
    """Settings from `file` (default: beforehand.toml here, when there is one), environment and flags.

    flags: sections as dictionaries, such as `broker={"host": "mqtt"}`. Raises SettingsError naming the setting.
    """
    if file is not None and not file.is_file():
        raise SettingsError(f"no settings file {file}.", "Name one that exists, or leave --config out.")
    chosen = file or (DEFAULT_FILE if DEFAULT_FILE.is_file() else None)

    class _FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=chosen)

    _check_environment()
    try:
        return Settings.model_construct(**_FromFile(**flags).__dict__)
    except ValidationError as error:
        raise _refused(error) from None
    except PydanticSettingsError:
        raise _not_json() from None
    except ValueError as error:
        raise SettingsError(f"settings file {chosen}: {error}.", "Write it as TOML, one table per section.") from None


def _check_environment() -> None:
    """pydantic ignores variables that it does not know. Raises SettingsError naming the nearest one."""
    known = _variables()
    for variable in sorted(os.environ):
        name = variable.upper()
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.8)
            advice = f"Did you mean {near[0]}?" if near else "Such as BEFOREHAND_BROKER__HOST; unset it."
            raise SettingsError(f"environment variable {variable}: no such setting.", advice)


def _variables() -> dict[str, bool]:
    """Every environment variable that is read, and whether it holds JSON: a whole section, or a list."""
    known: dict[str, bool] = {}
    for section in Settings.model_fields:
        known[f"{ENVIRONMENT_PREFIX}{section}".upper()] = True
        for name, field in _model(section).model_fields.items():
            known[f"{ENVIRONMENT_PREFIX}{section}__{name}".upper()] = get_origin(field.annotation) is list
    return known


def _not_json() -> SettingsError:
    """For the variable that should hold JSON and does not."""
    known = _variables()
    for variable, written in sorted(os.environ.items()):
        if not known.get(variable.upper()):
            continue
        try:
            from_json(written)
        except ValueError:
            of_list = "__" in variable
            form = to_json([part.strip() for part in written.split(",")] if of_list else {"name": "value"}).decode()
            return SettingsError(
                f"environment variable {variable}: {written!r} is not JSON.", f"Write it as JSON, such as {form}."
            )
    return SettingsError("an environment variable is not JSON.", "Write lists as JSON.")


def _refused(error: ValidationError) -> SettingsError:
    """The first thing that is wrong, with what would be right."""
    first = error.errors(include_url=False)[0]
    place = first["loc"]
    if first["type"] == "extra_forbidden":
        section = ".".join(map(str, place[:-1]))
        near = get_close_matches(str(place[-1]), _model(section).model_fields, n=1)
        advice = f"Did you mean {near[0]}?" if near else "`beforehand config show` lists all settings."
        return SettingsError(f"setting {'.'.join(map(str, place))}: no such setting.", advice)
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, Misfit):
        name = ".".join(part for part in (*map(str, place), cause.field) if part)
        return SettingsError(f"setting {name}: {cause.problem}.", f"{cause.advice[0].upper()}{cause.advice[1:]}.")
    name, form = shape.find(Settings, place)
    advice = "" if form is None else f"Give {shape.words(form, shape.schema(Settings))}."
    return SettingsError(f"setting {name}: {first['msg']}.", advice)


def _model(section: str) -> type[BaseModel]:
    """The model of a section; of all sections for a name that is none."""
    whole = Settings.model_fields
    model = whole[section].annotation if section in whole else Settings
    return model if isinstance(model, type) and issubclass(model, BaseModel) else Settings
