"""Settings: every section with its defaults. `configuration.load` fills them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from beforehand import limits
from beforehand.messages import topics
from beforehand.messages.values import Identifier, Misfit, Share
from beforehand.sections import FactsSettings, MemorySettings, RedactionSettings, RetentionSettings, Section

ENVIRONMENT_PREFIX = "BEFOREHAND_"
NO_MODEL = "none"
"""`policy.model` for rules alone."""


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
        1883, description="its port on 127.0.0.1, where `port` is left out; 0: any free one"
    )

    @property
    def started_port(self) -> int:
        """Port of the broker that is started where none is named; 0: any free one."""
        return self.embedded_port if self.port is None else self.port

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
    key_file: Path | None = Field(None, description="master key; with it or `key_command` what is stored is sealed")
    key_command: list[str] = Field([], description="prints the master key: a program and its arguments")
    key_store: Path | None = Field(
        None, description="the keys, closed with the master key; left out: beside the journal, ending in `.keys`"
    )

    @property
    def has_master_key(self) -> bool:
        """Whether what is stored is sealed."""
        return self.key_file is not None or bool(self.key_command)

    @model_validator(mode="after")
    def _one_master_key(self) -> Self:
        if self.key_file is not None and self.key_command:
            raise Misfit("both a key file and a key command", "keep one of them", "key_command")
        if self.key_store is not None and not self.has_master_key:
            raise Misfit("a key store without a master key", "set key_file or key_command", "key_store")
        return self


class IntakeSettings(Section):
    """How much is taken of one agent."""

    agent_messages_per_s: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        0.0, description="events, plans and feedback of one agent in a second, in the long run; 0: no limit"
    )
    agent_burst_messages: Annotated[int, Field(ge=1)] = Field(
        1_000, description="how many of them it may send at once after a pause"
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
        "balanced",
        description="how readily something is said; sets `threshold`, `token_price`, `bar`, `least_of_best`, "
        "`least_unasked`, `brief_below`",
    )
    threshold: Share | None = Field(None, description="least probability of an item")
    token_price: Annotated[float, Field(ge=0)] | None = Field(None, description="probability that a token has to earn")
    rule_share: Share = Field(0.05, description="how far what a rule claims counts beside the model's probability")
    bar: Share | None = Field(None, description="probability that the best item needs for anything to be said")
    least_of_best: Share | None = Field(None, description="share of the best item's probability that another one needs")
    least_unasked: Share | None = Field(
        None, description="least probability of a value whose key answers none of the step's needs"
    )
    brief_below: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description="sum of all candidates' probabilities below which a packet has at most 40 tokens; 0: never",
    )
    other_scenes: bool = Field(
        default=True, description="a step with a `space` may be told what bears another one, where that is likely"
    )
    workflows: bool = Field(default=True, description="say what earlier runs teach: missing and next calls, failures")
    epsilon: Share = Field(0.0, description="share of the steps that are told nothing, to learn what packets are worth")
    model: str = Field(
        "default",
        description="`default`: the promoted trigger model, the shipped one while none is; else one by name or folder; "
        "`none`: rules alone",
    )
    packs: list[str] = Field(["core"], description="rule packs, by name (shipped) or path (.yaml)")
    gap_wait_s: Annotated[float, Field(ge=0, le=1)] = Field(
        0.1, description="how long a step waits for messages on the way, as its counter says, or not remembered yet"
    )


class ModelsSettings(Section):
    """The registry of trigger models."""

    folder: Path = Field(Path(".beforehand/models"), description="where promoted models are kept")
    look_every_s: Annotated[float, Field(ge=0.05)] = Field(
        1.0, description="how often a running daemon looks whether another model was promoted"
    )


class ExperimentSettings(Section):
    """Where experiments are."""

    folder: Path = Field(Path("experiments"), description="folder of their definitions, and of what was started")


class EmbedderSettings(Section):
    """What turns text into vectors."""

    kind: Literal["static", "hashing", "none"] = Field(
        "static", description="static token table, hashed n-grams, or no vectors"
    )


class LanguageModelSettings(Section):
    """An endpoint that speaks OpenAI's chat completions. Without `base_url` none is asked, and nothing is missing."""

    base_url: str | None = Field(None, description="such as `https://llm.example/v1`; left out: none is asked")
    model: str | None = Field(None, description="its name at the endpoint; required with `base_url`")
    key_env: str | None = Field(
        None, description="name of the environment variable that holds the key; left out: no key is sent"
    )
    timeout_s: Annotated[float, Field(gt=0, le=600)] = Field(60.0, description="how long an answer may take")
    tokens_per_hour: Annotated[int, Field(ge=1_000)] = Field(
        200_000, description="tokens of requests and answers in one hour of the clock"
    )
    requests: Annotated[int, Field(ge=1, le=16)] = Field(1, description="requests under way at the same time")
    answer_tokens: Annotated[int, Field(ge=64)] = Field(800, description="most tokens of one answer")
    answer_tokens_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        "max_tokens", description="what the endpoint calls that"
    )
    facts: bool = Field(default=True, description="whether it reads what users say for facts")
    summaries: bool = Field(default=True, description="whether it sums up runs that are over")

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.base_url is None:
            return self
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            advice = "give http:// or https://, a host and a path, and the key by `key_env`"
            raise Misfit("the address cannot be used", advice, "base_url")
        if not self.model:
            raise Misfit("`base_url` without `model`", "name the model that is to be asked", "model")
        return self


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
    intake: IntakeSettings = IntakeSettings()
    policy: PolicySettings = PolicySettings()
    models: ModelsSettings = ModelsSettings()
    memory: MemorySettings = MemorySettings()
    facts: FactsSettings = FactsSettings()
    redaction: RedactionSettings = RedactionSettings()
    retention: RetentionSettings = RetentionSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    experiments: ExperimentSettings = ExperimentSettings()
    http: HttpSettings = HttpSettings()
    language_model: LanguageModelSettings = LanguageModelSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003  its place is given
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags over environment over file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)
