"""How do credentials look? Their forms as patterns, the names they are given to, and what only looks like one.

Every pattern is bounded and starts at a fixed place (a literal, or the beginning of a run of characters), so that the
time grows with the length of a text whatever stands in it.
"""

from __future__ import annotations

import re

PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:(?!-----BEGIN ).){0,20000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\\\s:,-]*)",
    re.DOTALL,
)
"""A key block; one that was cut off reaches as far as its characters."""

URL_PASSWORD = re.compile(r"(://[^\s/?#@:\"'<>{}$]{0,100}:)([^\s/\"'<>{}$]{1,256})(?=@[\w\[{$])")
"""`scheme://user:password@host`; a placeholder such as `${PASSWORD}` is none."""

SCHEMED = re.compile(r"\b(Bearer|Basic|Token|ApiKey|Digest)(\s{1,3})([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
"""What an Authorization header holds: the scheme, then the credential."""

AUTHORIZED = re.compile(
    r"(authorization[\"'`]?\]?\s{0,2}[:=]\s{0,2}\\{0,2}[\"'`]?(?:Bearer|Basic|Token|ApiKey|Digest|Negotiate)\s{1,3})"
    r"([A-Za-z0-9._~+/=-]{4,})",
    re.IGNORECASE,
)
"""An Authorization header as a whole: what stands in it is a credential whatever it looks like."""

COOKIE = re.compile(
    r"\b((?:Set-)?Cookie[\"']?\s{0,2}:\s{0,2}\\{0,2}[\"']?)([\w.-]{1,80}=[^\"'\r\n\\]{4,})", re.IGNORECASE
)

LONG_RUN = re.compile(r"[A-Za-z0-9_.:+/=-]{16,}")
"""Where a key of a vendor or a JWT can stand."""

_BEFORE = r"(?<![A-Za-z0-9])"
_AFTER = r"(?![A-Za-z0-9])"
_WORDY = r"[A-Za-z0-9_-]"

JWT = re.compile(rf"{_BEFORE}eyJ{_WORDY}{{8,}}\.{_WORDY}{{8,}}(?:\.{_WORDY}*){{0,3}}")

API_KEY = re.compile(
    _BEFORE
    + "(?:"
    + "|".join(
        [
            rf"sk-(?:ant|proj|or|svcacct|admin|lf|None)-{_WORDY}{{16,}}",  # Anthropic, OpenAI, OpenRouter, Langfuse
            r"sk-[A-Za-z0-9]{20,}",  # OpenAI's older ones, and those who copied the form
            r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA)[A-Z0-9]{16}" + _AFTER,  # AWS
            r"gh[pousr]_[A-Za-z0-9]{20,}",  # GitHub
            r"github_pat_[A-Za-z0-9_]{22,}",
            rf"gl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|imt|ffct)-{_WORDY}{{20,}}",  # GitLab
            rf"xox[abeoprs]-{_WORDY}{{10,}}",  # Slack
            rf"xapp-\d-{_WORDY}{{10,}}",
            r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,}",
            rf"AIza{_WORDY}{{35}}",  # Google
            rf"ya29\.{_WORDY}{{20,}}",
            rf"GOCSPX-{_WORDY}{{20,}}",
            r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
            r"whsec_[A-Za-z0-9+/=]{20,}",
            r"(?:hf|api_org)_[A-Za-z0-9]{30,}",  # Hugging Face
            r"npm_[A-Za-z0-9]{36}",
            rf"pypi-{_WORDY}{{40,}}",
            rf"SG\.{_WORDY}{{16,}}\.{_WORDY}{{16,}}",  # SendGrid
            r"gsk_[A-Za-z0-9]{40,}",  # Groq
            r"(?:xai|pplx)-[A-Za-z0-9]{40,}",
            r"r8_[A-Za-z0-9]{30,}",  # Replicate
            r"tvly-(?:dev-)?[A-Za-z0-9]{20,}",  # Tavily
            rf"(?:nvapi-|jina_|csk-|pcsk_|ntn_){_WORDY}{{40,}}",
            r"lsv2_(?:pt|sk)_[a-f0-9_]{32,}",  # LangSmith
            r"dapi[a-f0-9]{32}",  # Databricks
            r"do[opr]_v1_[a-f0-9]{64}",  # DigitalOcean
            r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",  # Shopify
            r"SK[0-9a-f]{32}" + _AFTER,  # Twilio
            r"key-[0-9a-f]{32}" + _AFTER,  # Mailgun
            rf"\d{{8,10}}:AA{_WORDY}{{32,}}",  # Telegram
            rf"(?:lin_api_|hvs\.|hvb\.|dckr_pat_|ATATT3|sntry[su]_|glsa_|NRAK-|PMAK-|figd_|sbp_|dop_|sq0[a-z]{{3}}-)"
            rf"{_WORDY}{{16,}}",
            r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
            r"sk_[0-9a-f]{40,}" + _AFTER,  # ElevenLabs
            r"rubygems_[0-9a-f]{40,}",
            r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",  # Airtable
            r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",  # Resend
            rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{1,35}}\.)?{_WORDY}{{38,}}",  # Doppler
            rf"[MNO]{_WORDY}{{23,27}}\.{_WORDY}{{6}}\.{_WORDY}{{27,}}",  # Discord
            rf"1//0{_WORDY}{{40,}}",  # Google's refresh tokens
            r"EAA[A-Za-z0-9]{50,}",  # Facebook
            r"LTAI[A-Za-z0-9]{16,24}" + _AFTER,  # Alibaba
            r"AKID[A-Za-z0-9]{32}" + _AFTER,  # Tencent
            rf"pat-(?:na|eu)\d-{_WORDY}{{30,}}",  # HubSpot
            rf"sl\.(?:u\.)?{_WORDY}{{100,}}",  # Dropbox
            r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,}",  # Terraform
            rf"(?:dt0c01|dt0s01)\.[A-Z0-9]{{24}}\.{_WORDY}{{60,}}",  # Dynatrace
            rf"ops_eyJ{_WORDY}{{40,}}",  # 1Password
            r"pul-[0-9a-f]{40}",  # Pulumi
            r"(?:bkua|CCIPAT|sgp|phx|nfp|fw)_[A-Za-z0-9]{20,}",
            rf"(?:fm[12]_|HRKU-|CFPAT-|glc_eyJ){_WORDY}{{30,}}",
        ]
    )
    + ")"
)
"""Keys that their vendors gave a form of their own."""

PREFIXED = re.compile(
    rf"{_BEFORE}[A-Za-z][A-Za-z0-9]{{1,15}}(?:[_-][A-Za-z0-9]{{1,8}}){{0,2}}_([A-Za-z0-9]{{32,200}}){_AFTER}"
)
"""What the next vendor's key looks like: a name, an underscore, and a long run that `is_dense` tells from an id."""

SIGNATURE = re.compile(
    r"([?&](?:sig|signature|x-(?:amz|goog|ms|oss)-(?:signature|security-token|credential))=)(?!\[)([^\s&\"'<>\\]{8,})",
    re.IGNORECASE,
)
"""What makes a URL open to whoever has it."""

_PASSWORD = (
    r"pass[_-]?word|passwd|pass[_-]?phrase|passcode|pwd|(?<=[_-])pass|passwort|kennwort|contrase[ñn]a|mot de passe"
)
_SECRET = (
    r"secret|(?:api|account|private|secret|encryption|signing|auth|shared|master|license)[ _-]?key|"
    r"access[ _-]?key(?:[ _-]?id)?|credentials?"
)
_GRANT = (
    r"authorization|(?:access|auth|refresh|id|session|bearer|bot|api|security|personal|github|gitlab|slack)[ _-]?token"
)
_NAMES = rf"(?P<password>{_PASSWORD})|(?P<secret>{_SECRET})|(?P<grant>{_GRANT})|(?P<token>token|jwt)"

_QUOTE = r"\\{0,3}[\"'`]"
NAMED = re.compile(
    rf"(?P<name>{_NAMES})"
    rf"(?P<sep>(?:{_QUOTE})?\]?\s{{0,3}}(?::\s?(?:str|string|String)\s{{0,3}}(?==))?(?:={{1,3}}|:=|=>|!=|:|>)\s{{0,3}})"
    rf"(?:(?P<open>{_QUOTE})(?P<quoted>[^\"'`\r\n\\]{{1,400}})(?={_QUOTE})"
    r"|(?P<bare>[^\s\"'`,;&|<>()\[\]{}\\]{1,400})(?P<after>[(\[]?))",
    re.IGNORECASE,
)
"""`name = value`, in code, JSON, YAML, XML, an environment or a query."""

FLAGGED = re.compile(
    rf"(?P<before>(?<![\w-])--?[\w-]{{0,40}}?(?:{_NAMES})\s{{1,3}}[\"']?)"
    r"(?P<bare>[^\s\"'`,;&|<>()\[\]{}\\-][^\s\"'`;&|<>()\[\]{}\\]{2,400})",
    re.IGNORECASE,
)
"""`--password value`."""

SAID = re.compile(
    rf"(?P<before>\b(?:(?:{_PASSWORD}|(?:api|access|secret) key|(?:access |auth )?token)"
    rf"\s(?:is|was|ist|es|est)\s?:?\s{{0,2}}|(?:{_PASSWORD})\s{{1,2}}(?=[^\s\"'`,;<>()\[\]{{}}\\=:|]{{7}}))[\"'`]?)"
    r"(?P<bare>[^\s\"'`,;<>()\[\]{}\\]{4,200})",
    re.IGNORECASE,
)
"""`the password is value`, `with password value`."""

COMMANDS = re.compile(
    r"((?:\bcurl\b[^\n|;&]{0,300}?\s(?:-u|--user)[\s=][\"']?[^\s:\"'@]{1,80}:|"
    r"\bsshpass\s{1,3}-p\s?[\"']?|\bmysql(?:dump|admin)?\b[^\n|;&]{0,100}?\s-p(?=\S)[\"']?|"
    r"\b(?:docker|podman|buildah|skopeo|nerdctl|oras|helm|oc|az|cf)\s[^\n|;&]{0,60}?\blogin\b[^\n|;&]{0,100}?\s-p[\s=]{1,2}[\"']?|"
    r"\bredis-cli\b[^\n|;&]{0,100}?\s(?:-a|--pass)\s{1,2}[\"']?|"
    r"\bhtpasswd\s{1,2}-\w{0,4}b\w{0,4}\s{1,2}[^\s|;&]{1,100}\s{1,2}[^\s|;&]{1,100}\s{1,2}[\"']?|"
    r"\bopenssl\b[^\n|;&]{0,200}?\s[\"']?pass:|"
    r"\bmachine\s{1,3}\S{1,100}\s{1,9}login\s{1,3}\S{1,100}\s{1,9}password\s{1,3}))"
    r"(?!\[redacted )(?![$%<{])([^\s\"']{1,200})"
)
"""Commands that take a password behind a short option, and the lines of a .netrc."""

QUOTED = re.compile(
    r"(\b(?:identified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?by|(?:with|encrypted)\s{1,3}password)\s{1,3}(?:as\s{1,3})?\\?['\"])"
    r"([^'\"\n\\]{1,200})",
    re.IGNORECASE,
)
"""What SQL sets a password to."""

PIPED = re.compile(
    r"((?:\becho|\bprintf)\s{1,3}(?:-\w{1,3}\s{1,3}|[\"']?%s\\?n?[\"']?\s{1,3})?\\?[\"']?)([^\s\"'|$\\]{3,200})"
    r"(?=\\?[\"']?\s{0,3}\|[^|\n]{0,200}(?:--password-stdin|\bsudo\s{1,3}(?:-\w{1,3}\s{1,3}){0,3}-\w{0,3}S))"
)
"""What is put into a command that reads a password."""

CONTINUED = re.compile(
    r"(\[redacted (?:api key|token)\](?:\\\r?\n[ \t]{0,40}|[\"'][ \t]{0,4}[+\\]?[ \t]{0,4}\r?\n[ \t]{0,40}[\"']))"
    r"([A-Za-z0-9_+/=.-]{8,400})(?![A-Za-z0-9_+/=.-])"
)
"""The rest of a key that goes on in the next line: behind a backslash, or as the next of two joined texts."""

_NAME_ENDS = re.compile(rf"(?:^|_)(?:{_NAMES})s?$")
_DIGITS, _LEAST_DIGITS = re.compile(r"\d+"), 3  # runs of digits; in 32 random characters 5, in a name one or two
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_NEVER = re.compile(
    r"(?:str(?:ing)?|int(?:eger)?|bool(?:ean)?|bytes?|any|object|none|null|nil|true|false|undefined|required|optional|"
    r"hidden|secret(?:str)?|password|passwd|pwd|token|text|email|default|empty|missing|invalid|wrong|incorrect|"
    r"\[redacted.*|redacted|x{3,}|[*.\-_?#…•]+|<.*|\$.*|%.*|\{.*|your.*|.*\.{3}|…)",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(
    r"(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|@?[A-Za-z_]*(?:password|passwd|pwd|passphrase|secret|token|key|credentials?))",
    re.IGNORECASE,
)

_NAME_OF_ONE = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]{0,30}[.:_-]){1,8}(?:password|passwd|pwd|passphrase|secret|token|key|credential|hash|id)s?|"
    r"\w{1,30}(?:\.[A-Za-z]\w{0,30}){1,3}",
    re.IGNORECASE,
)

EMAIL_CHARACTERS = "A-Za-z0-9À-ɏͰ-ϿЀ-ԯ"
EMAIL = re.compile(
    rf"(?<![{EMAIL_CHARACTERS}._+-])([{EMAIL_CHARACTERS}._+-]{{1,64}})@"
    rf"((?:[{EMAIL_CHARACTERS}-]{{1,63}}\.){{1,8}}([{EMAIL_CHARACTERS}]{{2,24}}))(?![{EMAIL_CHARACTERS}-]|@)"
)
"""An address, in the scripts that put blanks between words."""
_FILE_ENDINGS = frozenset(
    "png jpg jpeg gif svg webp ico bmp css js mjs json html yml yaml txt xml zip gz whl lock".split()
)
_RESERVED = frozenset("test example invalid localhost".split())  # RFC 2606: nobody can have an address there
_VERSION = re.compile(r"v\d|\d+\.\d")


def name_kind(name: str) -> str:
    """What a value with this name is: "password", "secret", "grant", "token" or "" for none."""
    plain = _HUMP.sub("_", name).lower().replace("-", "_").replace(" ", "_").replace(".", "_")
    found = _NAME_ENDS.search(plain)
    return found.lastgroup or "" if found else ""


def is_placeholder(value: str) -> bool:
    """Whether a value stands for a secret instead of being one: empty, a type's name, `${VARIABLE}`, `***`."""
    return not value.strip() or _NEVER.fullmatch(value.strip()) is not None


def is_reference(value: str) -> bool:
    """Whether an unquoted value of code is the name of something: `settings.PASSWORD`, `db_password`."""
    return _REFERENCE.fullmatch(value) is not None


def names_one(value: str) -> bool:
    """Whether a value is itself the name of a secret: "OPENAI_API_KEY", "aws.accessKeyId"."""
    return _NAME_OF_ONE.fullmatch(value) is not None and sum(map(str.isdigit, value)) < _LEAST_DIGITS


def looks_random(value: str) -> bool:
    """Whether a value looks made by a machine: of letters and digits, eight or more, or long and in both cases."""
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    if len(value) >= 8 and letters and digits:
        return True
    return len(value) >= 20 and value.lower() != value and value.upper() != value and "-" not in value


def is_dense(run: str) -> bool:
    """Whether a long run of letters and digits is drawn at random: both cases, and digits all over it."""
    return run.lower() != run and run.upper() != run and len(_DIGITS.findall(run)) >= _LEAST_DIGITS


def is_address(local: str, domain: str, ending: str) -> bool:
    """Whether the parts of what has an address's form are one: no remote of git, no version, no picture's size."""
    if ending.isdigit() or not ending[0].isalpha() or ending.lower() in _FILE_ENDINGS | _RESERVED:
        return False
    return local.lower() not in ("git", "hg") and not _VERSION.match(domain)
