#include "sessions/load/word_list.h"

#include <array>

namespace firsttoken::sessions {

namespace {

constexpr auto words = std::to_array<std::string_view>({
    "the",       "of",        "and",      "to",      "in",        "for",       "with",      "on",      "that",
    "from",      "about",     "before",   "after",   "while",     "because",   "when",      "where",   "which",
    "every",     "other",     "a",        "an",      "is",        "was",       "were",      "has",     "had",
    "will",      "would",     "could",    "should",  "may",       "might",     "must",      "can",     "some",
    "many",      "few",       "several",  "most",    "both",      "each",      "another",   "first",   "second",
    "third",     "last",      "next",     "early",   "late",      "still",     "often",     "never",   "always",
    "people",    "person",    "child",    "woman",   "man",       "friend",    "neighbour", "teacher", "doctor",
    "farmer",    "driver",    "baker",    "writer",  "painter",   "sailor",    "student",   "worker",  "engineer",
    "nurse",     "judge",     "captain",  "guest",   "owner",     "visitor",   "family",    "mother",  "father",
    "sister",    "brother",   "daughter", "son",     "house",     "room",      "door",      "window",  "kitchen",
    "garden",    "roof",      "wall",     "floor",   "table",     "chair",     "bed",       "lamp",    "shelf",
    "mirror",    "stairs",    "yard",     "fence",   "gate",      "street",    "road",      "bridge",  "station",
    "market",    "shop",      "office",   "school",  "library",   "hospital",  "museum",    "theatre", "factory",
    "harbour",   "airport",   "village",  "town",    "city",      "river",     "lake",      "sea",     "island",
    "beach",     "mountain",  "hill",     "valley",  "forest",    "field",     "desert",    "cave",    "path",
    "stone",     "sand",      "mud",      "ice",     "snow",      "rain",      "wind",      "storm",   "cloud",
    "sun",       "moon",      "star",     "sky",     "light",     "shadow",    "fire",      "smoke",   "water",
    "air",       "earth",     "metal",    "wood",    "glass",     "paper",     "cloth",     "leather", "gold",
    "silver",    "iron",      "copper",   "tree",    "leaf",      "root",      "branch",    "flower",  "grass",
    "seed",      "fruit",     "apple",    "pear",    "plum",      "cherry",    "orange",    "lemon",   "grape",
    "berry",     "nut",       "bean",     "corn",    "rice",      "wheat",     "bread",     "butter",  "cheese",
    "milk",      "egg",       "soup",     "salt",    "pepper",    "sugar",     "honey",     "tea",     "coffee",
    "wine",      "juice",     "dinner",   "lunch",   "breakfast", "cake",      "dog",       "cat",     "horse",
    "cow",       "sheep",     "goat",     "pig",     "bird",      "duck",      "goose",     "owl",     "fish",
    "bear",      "wolf",      "fox",      "deer",    "rabbit",    "mouse",     "bee",       "ant",     "hand",
    "foot",      "head",      "eye",      "ear",     "nose",      "mouth",     "arm",       "leg",     "back",
    "heart",     "voice",     "face",     "hair",    "finger",    "shoulder",  "morning",   "evening", "night",
    "day",       "week",      "month",    "year",    "hour",      "minute",    "spring",    "summer",  "autumn",
    "winter",    "season",    "moment",   "book",    "letter",    "story",     "song",      "picture", "map",
    "letterbox", "newspaper", "question", "answer",  "reason",    "idea",      "plan",      "rule",    "number",
    "list",      "page",      "line",     "word",    "name",      "train",     "boat",      "ship",    "plane",
    "car",       "bicycle",   "wheel",    "engine",  "ticket",    "luggage",   "journey",   "money",   "price",
    "bill",      "coin",      "bank",     "trade",   "work",      "game",      "prize",     "gift",    "clock",
    "key",       "rope",      "knife",    "spoon",   "plate",     "cup",       "bottle",    "basket",  "bag",
    "box",       "coat",      "hat",      "shoe",    "shirt",     "glove",     "ring",      "go",      "come",
    "see",       "look",      "find",     "give",    "take",      "make",      "bring",     "carry",   "hold",
    "keep",      "leave",     "open",     "close",   "start",     "finish",    "walk",      "run",     "ride",
    "drive",     "fly",       "swim",     "climb",   "fall",      "rise",      "turn",      "move",    "wait",
    "stay",      "follow",    "meet",     "speak",   "tell",      "ask",       "reply",     "call",    "write",
    "read",      "learn",     "teach",    "think",   "know",      "believe",   "remember",  "forget",  "explain",
    "describe",  "compare",   "measure",  "count",   "build",     "repair",    "paint",     "clean",   "wash",
    "cook",      "bake",      "cut",      "grow",    "plant",     "pick",      "buy",       "sell",    "pay",
    "borrow",    "lend",      "send",     "receive", "want",      "need",      "like",      "hope",    "fear",
    "try",       "help",      "show",     "hear",    "feel",      "touch",     "watch",     "choose",  "decide",
    "change",    "laugh",     "smile",    "cry",     "sleep",     "wake",      "rest",      "play",    "sing",
    "dance",     "listen",    "good",     "bad",     "old",       "young",     "new",       "long",    "short",
    "high",      "low",       "wide",     "narrow",  "deep",      "round",     "flat",      "sharp",   "soft",
    "hard",      "heavy",     "warm",     "cold",    "hot",       "dry",       "wet",       "dirty",   "bright",
    "dark",      "quiet",     "loud",     "fast",    "slow",      "strong",    "weak",      "red",     "blue",
    "green",     "yellow",    "brown",    "black",   "white",     "grey",      "purple",    "happy",   "sad",
    "kind",      "honest",    "brave",    "careful", "patient",   "clever",    "busy",      "tired",   "hungry",
    "thirsty",   "calm",      "proud",    "large",   "small",     "simple",    "strange",   "famous",  "common",
    "rare",      "local",     "foreign",  "modern",  "ancient",   "public",    "private",   "north",   "south",
    "east",      "west",      "left",     "right",   "near",      "far",       "above",     "below",   "inside",
    "outside",   "between",   "behind",   "under",   "over",      "across",    "along",     "around",  "through",
    "again",     "together",  "alone",    "quickly", "slowly",    "carefully", "almost",    "perhaps", "nearly",
    "usually",   "rarely",    "one",      "two",     "three",     "four",      "five",      "six",     "seven",
    "eight",     "nine",      "ten",      "hundred", "thousand",
});

}  // namespace

std::span<const std::string_view> promptWords() { return words; }

}  // namespace firsttoken::sessions
