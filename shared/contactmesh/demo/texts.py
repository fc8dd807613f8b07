"""Everything that the demo shows and everybody who is in it, in one place to be translated.

The people are made up. Their user ids are what the scenario calls them by.
"""

from typing import Final

NAMES: Final = {
    "alice": "Alice Morgan",
    "ben": "Ben Carter",
    "carol": "Carol Hughes",
    "dave": "Dave Wilson",
    "erin": "Erin Walsh",
    "frank": "Frank Osei",
    "grace": "Grace Bennett",
    "henry": "Henry Clarke",
    "ivy": "Ivy Novak",
    "jack": "Jack Turner",
    "chen-jing": "陈静",
    "wang-xiaoming": "王小明",
    "li-na": "李娜",
    "zhang-wei": "张伟",
    "zhao-min": "赵敏",
    "sun-li": "孙丽",
    "zhou-tao": "周涛",
    "wu-fang": "吴芳",
    "liu-yang": "刘洋",
    "huang-lei": "黄磊",
}
"""Those who have a part in the scenario."""

FURTHER_NAMES: Final = {
    "xu-jing": "徐静",
    "kate": "Kate Doyle",
    "ma-chao": "马超",
    "liam": "Liam Price",
    "zhu-ling": "朱玲",
    "mona": "Mona Lindqvist",
    "hu-bin": "胡斌",
    "nora": "Nora Kelly",
    "guo-yan": "郭艳",
    "oscar": "Oscar Reed",
    "he-jun": "何军",
    "priya": "Priya Shah",
    "gao-yuan": "高远",
    "quinn": "Quinn Baker",
    "lin-xiaoyu": "林晓雨",
    "rosa": "Rosa Keane",
    "luo-dan": "罗丹",
    "sam": "Sam Okafor",
    "zheng-kai": "郑凯",
    "tess": "Tess Holloway",
    "xie-fei": "谢飞",
    "uma": "Uma Grant",
    "song-jia": "宋佳",
    "victor": "Victor Lowe",
    "tang-min": "唐敏",
    "wendy": "Wendy Frost",
    "feng-yi": "冯毅",
    "xavier": "Xavier Dunn",
    "dong-mei": "董梅",
    "yvonne": "Yvonne Hart",
}
"""Those who fill the groups when more people are asked for."""

BADMINTON: Final = "Riverside Badminton"
REUNION: Final = "高中同学会"

TYPED_FILE: Final = "typed by hand"
LABELS: Final = ("mobile", "private", "手机", "私人")
NICKNAMES: Final = ("captain", "neighbour", "班长", "老同学")
PRIVATE_NOTES: Final = (
    "owes me lunch",
    "allergic to peanuts",
    "借了我的雨伞",
    "met at the regatta",
    "生日三月八号",
    "plays left-handed",
    "只发短信,别打电话",
    "cousin of Quinn",
)

PHONE: Final = "phone"
TABLET: Final = "tablet"

# The command
HELP_DEMO = (
    "See it work: a whole system, people in two groups, changed numbers, blocks, a phone that was "
    "off, carriers that change and port numbers.\n\n"
    "Everything runs for real on this machine, takes less than a minute, and leaves nothing "
    "behind. Every phonebook is checked at the end. The last line is one line of JSON with what "
    "was counted; the exit status is 0 only if all of it was right.\n\n"
    "A broker in AMQP_URL or a database in MONGODB_URL is used instead of starting one: give it a "
    "virtual host of its own there, since what it makes in them stays."
)
EXAMPLE_DEMO = "Example:  contactmesh demo --users 40 --json | jq .p99_ms"
HELP_USERS = "How many people take part."
HELP_KEEP = "Keep everything in this folder, which must be empty or new: data, logs, phonebooks."
HELP_JSON = "Print nothing but the result, as one line of JSON."
HELP_SEED = "Decides the numbers, and who has whom in the phonebook."
KEEP_NOT_EMPTY = "{folder} is not empty: give --keep a folder that is empty or new."
INTERRUPTED = "Stopping ..."

# Progress
STARTING = "Starting a broker, a database and the services"
STARTED = "Broker, database and {services} services run, each a process of its own."
ENROLLING = "Letting terminals in, each with a one-time code"
ENROLLED = "{people} people have {terminals} terminals, each with credentials of its own."
BY_MQTT = "{owner}'s {terminal} speaks MQTT, all others AMQP."
IMPORTING = "Importing phonebooks"
IMPORTED = (
    "{cards} contacts are in {books} phonebooks: exports of real phones, and {typed} contacts that "
    "people typed themselves, with private notes."
)
CHECKING = "Checking every phonebook"

# The story
TITLE = "Change your number once, and it is right in every phonebook that you allow."
STEP_SYSTEM = "A system on this machine"
STEP_GROUPS = "Two groups"
STEP_CARDS = "Everyone publishes a card"
STEP_CHANGES = "Changed numbers"
STEP_BLOCK = "A change that one member must not learn of"
STEP_BLOCK_EVERYWHERE = "The same in all groups"
STEP_OFFLINE = "A phone that was off"
STEP_UNSUBSCRIBED = "A terminal that wants no pushes"
STEP_LEAVING = "A member who leaves"
STEP_CARRIERS = "What the carriers know"
STEP_RESULT = "The result"

GROUP_CREATED = "{owner} creates “{group}” with {count} initial members."
INVITATIONS = "Invitations"
COLUMNS_INVITATIONS = ("Group", "Invited", "By", "Outcome")
ACCEPTED = "accepted"
DECLINED = "declined"
WITHDRAWN = "withdrawn"

CARDS_PUBLISHED = (
    "{cards} cards went out. Where somebody had typed the person in already, the entry was found "
    "again although the number is written differently; notes and labels stay the owner's."
)
CHANGES_INTRO = "Each of them tells ContactMesh once, and nobody else."
CHANGES = "Changed once, right everywhere"
COLUMNS_CHANGES = ("Who", "Old number", "New number", "Phones", "Slowest")
MILLISECONDS = "{value:.0f} ms"
BOOKS = "Phonebooks before and after"
COLUMNS_BOOKS = ("Phonebook", "Contact", "Before", "After")
OF = "{owner} ({terminal})"

BLOCKED_HERE = (
    "{setter} sets “do not notify” on {blocked} in “{group}”, and changes number. {blocked} even "
    "asks the server and learns nothing."
)
LIFTED = "{setter} lifts it: {blocked} gets the current card, and never sees what was in between."
BLOCKED_EVERYWHERE = (
    "{setter} sets “do not notify” on {blocked} in all groups, and changes number twice."
)
BLOCK_STAYS = "{setter} blocks {blocked} in all groups, changes number, and leaves it so."
SEEN_BY = "{owner}, as seen by"
MOMENTS_OF_BLOCK = ("Before", "While blocked", "After the lift")

WENT_OFFLINE = "{name}'s phone is off while {count} people change their numbers."
CAME_BACK = "It is on again and pulls: everything at once, in {value:.0f} ms."
SECOND_TERMINAL = "{name}'s {terminal} has learnt of the change made on the {other}."
NOT_SUBSCRIBED = (
    "{name} unsubscribed from the pushes of “{group}”. {other} changes number; {name} sees it at "
    "the next pull."
)
COLUMNS_PULL = ("Phonebook", "Contact", "Before", "Before the pull", "After the pull")
LEFT = (
    "{name} leaves “{group}”, and changes number. Those who share the other group get it; the rest "
    "keep what they knew, or nothing if they had not typed {name} in themselves."
)
COLUMNS_LEFT = ("Phonebook", "Has own entry", "Before", "Now")
YES = "yes"
NO = "no"
NOTHING = "-"

CARRIERS: Final = {"cn-mobile": "中国移动", "cn-unicom": "中国联通", "gb-ee": "EE"}
DESK: Final = "feed"
CARRIER_CHANGED = (
    "{carrier} tells that {name} has another number. {name} does nothing, and every phonebook "
    "that may have it does."
)
RECYCLED = (
    "The old number goes to {heir}. {viewer} asks about {name} and is told nothing of it: a number "
    "is not a person."
)
TAKEN_ALONG = (
    "{name} takes the number along to {carrier}. {viewer} opens the page, is told so once, and "
    "keeps the number."
)
BLOCKED_LOOK = (
    "{blocked}, whom {name} blocks, asks about {name}, and gets the same answer as for somebody "
    "who does not exist."
)

# The result
RESULT = "Counted"
RESULT_MEMBERS = "Members of groups"
RESULT_CHANGES = "Changed numbers"
RESULT_DELIVERED = "Updates that terminals applied"
RESULT_WITHHELD = "Kept back because of a block"
RESULT_LEAKED = "Leaked to somebody who must not know"
RESULT_LOST = "Contacts not as they must be"
RESULT_P50 = "From change to terminal, median"
RESULT_P99 = "From change to terminal, 99 %"
TIMES_NOTE = (
    "All {terminals} terminals share one process here, and this machine with all services; "
    "“make bench” measures speed."
)
CHECKED = "{contacts} contacts in {books} phonebooks and {messages} messages were checked."
ALL_RIGHT = "Every phonebook holds exactly what it must hold."
NOT_RIGHT = "Not as it must be: {count}"
DIFFERENCE = "{part}"
DIFFERENCE_JOINT = ": "
MUST_BE = "must be [{part}]"
IS = "is [{part}]"
A_CHANGE = "a change of {owner}'s card"
KEPT = "Everything is kept in {folder}."

# What the story waits for
DID_NOT_HAPPEN = "The demo cannot go on: {what} did not happen within {seconds:.0f} s."
INVITATION_ARRIVES = "that {name} is invited to “{group}”"
INVITATION_CLOSES = "that {name}'s invitation to “{group}” closes"
KNOWS_GROUP = "that {name} learns of “{group}”"
LEARNS_OWN = "that {name}'s {terminal} learns of the card published on the other terminal"
LEARNS_LEAVING = "that {name} learns of {member}'s leaving"

FEED_REJECTED = "The demo cannot go on: the registry does not take what {carrier} says."
NOT_IN_PHONEBOOK = "The demo cannot go on: {viewer} does not have {name} in the phonebook."

# Names of what is checked
LOOK_AT = "what the registry says of {name}"
LOOK_OF_BLOCKED = "a look by somebody who is blocked"
COUNT_WITHHELD = "deliveries withheld because of a block"
COUNT_MEMBERS = "members of groups"
CURSOR_MOVED = "the pull cursor moved although nothing may be known"
PUSHED_ALTHOUGH_UNSUBSCRIBED = "told without a pull although unsubscribed"
