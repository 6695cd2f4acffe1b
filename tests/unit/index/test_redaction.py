import pytest

from beforehand.index.redaction import MARK, redact, redact_data, redact_field

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAx1234567890abcdef\nabcd==\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("the key is {}.", "sk-proj-abc123def456ghi789jkl012"),
    ("{}", "sk-ant-api03-AAAAbbbbCCCC1111dddd2222"),
    ("{}", "sk-abcdefghijklmnopqrstuvwxyz"),
    ("charge with {} now", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
    ("id {}", "AKIAIOSFODNN7EXAMPLE"),
    ("{}", "ghp_1234567890abcdefghij1234567890abcdef"),
    ("{}", "github_pat_11ABCDEFG0123456789_abcdefghijk"),
    ("{}", "glpat-abcdefghij1234567890"),
    ("{}", "xoxb-1234567890-abcdefghijkl"),
    ("https://hooks.slack.com/services/{}", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
    ("{}", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
    ("{}", "npm_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("{}", "hvs.CAESIJ1234567890abcdefghij"),
    ("{}", "123456789:AAabcdefghijklmnopqrstuvwxyz1234567"),
    ("jwt {} end", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
    ("{} after", PEM),
    ('{{"key": "{}"}}', PEM.replace("\n", "\\n")),
    ("cut off: {}", PEM[:70]),
    ("export TOKEN={}", "abc123def"),
    ("export API_KEY='{}'", "some-value-1"),
    ("SECRET={}", "abcdefgh"),
    ("AWS_SECRET_ACCESS_KEY = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("DefaultEndpoint=x;AccountKey={};Suffix=y", "abcd1234+/=="),
    ("password: {}", "hunter2"),
    ("Password={};Server=x", "hunter2"),
    ("dbPassword = '{}'", "p@ss w0rd"),
    ("client_secret: {}", "a1b2c3d4"),
    ('{{"accessToken": "{}"}}', "abcdef123456"),
    ('{{\\"password\\": \\"{}\\"}}', "hunter2"),
    ("my password is {}.", "hunter2"),
    ("the PIN is {}", "4411"),
    ("密码：{}", "abc123"),
    ("密码是{}", "abc123"),
    ("パスワード: {}", "abc123"),
    ("비밀번호: {}", "abc123"),
    ("Authorization: Bearer {}", "abc.def-123456"),
    ("'authorization': 'Basic {}'", "dXNlcjpwYXNz"),
    ("sent Bearer {} along", "abcdef0123456789abcdef"),
    ("Set-Cookie: session={}; Path=/", "0123456789abcdef"),
    ("postgres://bob:{}@db:5432/x", "s3cret"),
    ("redis://:{}@cache", "s3cret"),
    ("mysql --password={} db", "hunter2"),
    ("tool --api-key {} run", "hunter22"),
    ("curl -u bob:{} https://x", "s3cret"),
    ("https://x.com/?access_token={}&page=1", "abcdef123"),
    ("<password>{}</password>", "hunter2"),
]


@pytest.mark.parametrize(("frame", "secret"), SECRETS)
def test_a_secret_is_taken_out_and_its_surroundings_stay(frame, secret):
    text, count = redact(frame.format(secret))
    assert count == 1
    assert text == frame.format(MARK)


@pytest.mark.parametrize(("frame", "secret"), SECRETS)
def test_a_redacted_text_is_not_redacted_again(frame, secret):
    text, _ = redact(frame.format(secret))
    assert redact(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "apiKey: process.env.KEY",
        'api_key=os.environ["KEY"]',
        "token: ${TOKEN}",
        "export TOKEN=$TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "password: <your password>",
        "api_key: your_api_key_here",
        "token: my-token",
        "password: ********",
        "password: xxxxxxxx",
        "password=None",
        "password: string",
        "secret: true",
        "postgres://bob:${PASS}@db/x",
        "password must be at least 8 characters",
        "Password: must contain a digit",
        "the password is wrong",
        "The secret is out!",
        "the token is valid",
        "reset password: https://example.com/reset",
        "token_count: 512, max_tokens: 1024, tokens=99",
        "next_page_token: abc123def456",
        "nextPageToken=CAUQAA123456",
        "const token = getToken()",
        "token = data.token",
        "let token = tokenValue;",
        "PWD=/home/bob OLDPWD=/home/bob/src",
        "order #W2378156 for user emma_kim_9957",
        "credit_card_4190576, paypal_7732922, gift_card_7245904",
        "550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b",
        "http://localhost:8080/a@b and bob@example.com",
        "sk-learn, sk-sunset-boulevard-apartments",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "primary key: user_id, key: value",
        "flight HAT136 on 2024-05-20 at $1,230.00",
        "",
    ],
)
def test_references_placeholders_and_ids_stay(text):
    assert redact(text) == (text, 0)


def test_several_secrets_are_counted_one_by_one():
    text, count = redact("password: hunter2, token=abc123def, postgres://a:b1@c")
    assert count == 3
    assert text == f"password: {MARK}, token={MARK}, postgres://a:{MARK}@c"


def test_two_keys_in_one_text_go_and_what_is_between_them_stays():
    assert redact(f"one {PEM} two {PEM} three") == (f"one {MARK} two {MARK} three", 2)


def test_prose_behind_a_key_that_was_cut_off_stays():
    text, count = redact("-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890\nand then we left")
    assert count == 1
    assert text == f"{MARK}\nand then we left"


@pytest.mark.parametrize(
    "name", ["password", "api_key", "clientSecret", "ACCESS_TOKEN", "user.password", "pin", "Authorization"]
)
def test_a_value_under_a_secret_name_goes_whatever_it_looks_like(name):
    assert redact_field(name, "correct horse") == (MARK, 1)


@pytest.mark.parametrize(
    "name", ["page_token", "order_id", "tokens", "password_hint", "shipping", "pin_code_area", "secretary"]
)
def test_a_value_under_another_name_stays(name):
    assert redact_field(name, "correct horse") == ("correct horse", 0)


def test_a_reference_under_a_secret_name_stays():
    assert redact_field("password", "${DB_PASSWORD}") == ("${DB_PASSWORD}", 0)


def test_data_keeps_its_form():
    data = {
        "user": "bob",
        "password": "hunter2",
        "nested": [{"api_key": "k-123456", "pin": 1234, "page_token": "x1"}, "token=abc123def", 7, None, True],
        "tokens": 12,
        "token": ["a1b2c3"],
        "credentials": {"login": "bob", "password": "pw1"},
    }
    plain, count = redact_data(data)
    assert count == 6
    assert plain == {
        "user": "bob",
        "password": MARK,
        "nested": [{"api_key": MARK, "pin": MARK, "page_token": "x1"}, f"token={MARK}", 7, None, True],
        "tokens": 12,
        "token": [MARK],
        "credentials": {"login": "bob", "password": MARK},
    }
    assert data["password"] == "hunter2"


@pytest.mark.parametrize(
    "piece",
    [
        *("password", "password: ", "password is ", "token='", "eyJ", "eyJ-", "sk-", "://a:", "<password", "bearer "),
        *(
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN ",
            "curl -u a",
            "hooks.slack.com/",
            "cookie: a",
            "api_key",
            "a_",
            "\\",
        ),
    ],
)
def test_the_longest_hostile_text_is_read_in_time_linear_in_it(piece):
    """A quadratic pattern would run into the suite's timeout here."""
    text = piece * (200_000 // len(piece))
    plain, count = redact(text)
    assert (plain == text) == (count == 0)
