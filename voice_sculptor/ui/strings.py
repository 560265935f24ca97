"""Every word on the page, in both languages.

Errors and notices bring their own sentences; control levels come from `voice_sculptor.controls`.
"""

from __future__ import annotations

STRINGS: dict[str, tuple[str, str]] = {
    "tagline": ("Describe a voice. Hear it speak.", "描述一个声音，听它开口。"),
    "language": ("Language", "语言"),
    # The voice
    "presets": ("Presets", "预设"),
    "group_role": ("Roles", "角色"),
    "group_profession": ("Professions", "职业"),
    "group_scene": ("Scenes", "场景"),
    "undo": ("Undo", "撤销"),
    "clear": ("Clear", "清空"),
    "description": ("Description", "描述"),
    "description_hint": (
        "A calm old man with a low, slow voice…",
        "一位沉稳的老爷爷，声音低沉，说话慢……",
    ),
    "controls": ("Controls", "控制项"),
    "controls_hint": (
        "Auto follows the description. A control you set wins over it.",
        "“自动”由描述决定；手动设定的控制项优先于描述。",
    ),
    "auto": ("Auto", "自动"),
    "gender": ("Gender", "性别"),
    "age": ("Age", "年龄"),
    "pitch": ("Pitch", "音高"),
    "pitch_variation": ("Intonation", "语调起伏"),
    "volume": ("Volume", "音量"),
    "speed": ("Speed", "语速"),
    "emotion": ("Emotion", "情绪"),
    "intensity": ("Intensity", "强度"),
    # What was read from the description
    "understood": ("Understood", "已理解"),
    "understood_nothing": (
        "No known voice words in it yet: say gender, age, pitch, pace or mood.",
        "还没有读到声音特征：可以写性别、年龄、音高、语速或情绪。",
    ),
    "unknown_words": ("Not understood", "未能理解"),
    # The text
    "text": ("Text to speak", "要朗读的文本"),
    "text_hint": ("Write what the voice should say…", "写下要让这个声音说的话……"),
    "candidates": ("Candidates", "候选数量"),
    "seed": ("Seed", "种子"),
    "seed_hint": ("random", "随机"),
    "dice": ("Roll a seed", "随机种子"),
    "generate": ("Generate", "生成"),
    "cancel": ("Cancel", "取消"),
    # Progress
    "sending": ("Sending the request…", "正在提交……"),
    "waiting": ("{count} ahead of you · about {seconds} s", "前面还有 {count} 个请求 · 约 {seconds} 秒"),
    "loading": ("Loading the voice model · {percent}%", "正在加载声音模型 · {percent}%"),
    "making": (
        "Making candidate {index} of {count} · {percent}%",
        "正在生成第 {index} / {count} 个 · {percent}%",
    ),
    "done": ("{count} made in {seconds} s", "已生成 {count} 个，用时 {seconds} 秒"),
    "cancelled": ("Cancelled. Your input is kept.", "已取消，输入内容都还在。"),
    # Candidates
    "results": ("Candidates", "候选声音"),
    "format": ("Download as", "下载格式"),
    "empty": ("Your voices will appear here.", "生成的声音会出现在这里。"),
    "card": ("Candidate {index}", "候选 {index}"),
    "from_voice": ("from {name}", "源自 {name}"),
    "use_seed": ("Use seed", "使用此种子"),
    "rtf": (
        "Seconds of computing for one second of speech",
        "生成一秒语音所用的计算秒数",
    ),
    "seed_used": ("Seed {seed}", "种子 {seed}"),
    "save_audio": ("Audio", "音频"),
    "save_voice": ("Voice file", "声音文件"),
    # How far a candidate did what was asked
    "obeys": ("Match {percent}%", "符合度 {percent}%"),
    "obeys_count": ("{met} of {count} met", "{count} 项中达到 {met} 项"),
    "obeys_unknown": ("What was asked could not be measured", "所要求的内容无法测量"),
    "best": ("Best match", "最符合"),
    "asked_for": ("Asked", "要求"),
    "heard": ("Measured", "实测"),
    "did_it": ("Met?", "是否达到"),
    "mark_met": ("✓ yes", "✓ 达到"),
    "mark_near": ("≈ nearly", "≈ 接近"),
    "mark_missed": ("✗ no", "✗ 未达到"),
    "not_measured": ("not measured", "未测量"),
    "emotion_hidden": ("too slight, or set by other controls", "变化太小，或由其他控制项决定"),
    "breathiness": ("Breathiness", "气息"),
    "roughness": ("Roughness", "沙哑"),
    "brightness": ("Brightness", "明暗"),
    "body": ("Body", "厚度"),
    "nasality": ("Nasality", "鼻音"),
    "whisper": ("Whisper", "耳语"),
    "cue_aim": ("aim {range}", "目标 {range}"),
    "cue_gender": ("{percent}% likely", "听起来像：{percent}%"),
    "cue_f0_hz": ("pitch", "音高"),
    "cue_f0_sd_st": ("melody ±", "语调起伏 ±"),
    "cue_syllables_per_s": ("syllables", "音节"),
    "cue_loudness_lufs": ("loudness", "响度"),
    "cue_tract_cm": ("throat to lips", "喉到唇的长度"),
    "cue_hnr_db": ("clearness", "清澈度"),
    "cue_jitter": ("unevenness", "嗓音不匀"),
    "cue_tilt_db": ("treble against bass", "高音与低音之比"),
    "cue_voiced_share": ("voiced share", "声带振动的占比"),
    "unit_st": ("semitones", "个半音"),
    "unit_/s": ("a second", "个/秒"),
    "range_between": ("{low} to {high}", "{low} 至 {high}"),
    "range_from": ("at least {low}", "至少 {low}"),
    "range_to": ("at most {high}", "至多 {high}"),
    # What the figures of the table mean, for people who know no phonetics
    "note_aim": (
        "Aim: near enough that a listener hears what you asked for.",
        "目标：落在这个范围内，听者就能听出所要求的效果。",
    ),
    "note_f0_hz": (
        "Hz: vibrations of the voice in a second. More sounds higher.",
        "Hz：声音每秒振动的次数，越大听起来越高。",
    ),
    "note_f0_sd_st": (
        "Semitones: neighbouring keys of a piano. More sounds livelier.",
        "半音：钢琴上相邻两个琴键的距离，起伏越大越生动。",
    ),
    "note_syllables_per_s": ("Syllables a second: more is faster.", "每秒音节数：越多说得越快。"),
    "note_loudness_lufs": ("LUFS: loudness; −20 is louder than −24.", "LUFS：响度，−20 比 −24 更响。"),
    "note_tract_cm": (
        "Throat to lips: short in a child, long in a big man; it is judged from the sound.",
        "喉到唇的长度：孩子较短，高大的成年男性较长；由声音推算。",
    ),
    "note_hnr_db": ("Clearness: less is breathier.", "清澈度：越低气息声越重。"),
    "note_jitter": ("Unevenness: more is hoarser.", "嗓音不匀：越大越沙哑。"),
    "note_tilt_db": ("Treble against bass: more is brighter.", "高音与低音之比：越高越明亮。"),
    "note_voiced_share": (
        "Voiced share: how much of it has a tone; a whisper has hardly any.",
        "声带振动的占比：耳语时声带几乎不振动。",
    ),
    "note_gender": ("Gender: met from 50%.", "性别：50% 起算达到。"),
    # Kept voices
    "keep": ("Keep", "保存"),
    "kept": ("Kept voices", "保存的声音"),
    "kept_hint": ("Choose one to speak the text above.", "选一个来朗读上面的文本。"),
    "kept_empty": ("Keep a candidate and it stays here.", "保存候选声音后会留在这里。"),
    "kept_voice": ("Voices", "声音"),
    "kept_name": ("Name of the voice", "声音的名字"),
    "kept_name_hint": ("name to keep it by", "给它起个名字"),
    "rename": ("Rename", "改名"),
    "delete": ("Delete", "删除"),
    "kept_undo": ("Undo delete", "撤销删除"),
    "kept_speak": ("Speak the text", "朗读文本"),
    "kept_done": ("Kept as {name}.", "已保存为 {name}。"),
    "kept_renamed": ("It is called {name} now.", "现在叫 {name}。"),
    "kept_deleted": ("Deleted {name}.", "已删除 {name}。"),
    "kept_restored": ("{name} is back.", "已恢复 {name}。"),
    "kept_gone": ("There is no such candidate any more.", "这个候选声音已经不在了。"),
    "kept_gone_fix": ("Generate it again with its seed.", "请用它的种子重新生成。"),
    "kept_none": ("No voice is chosen.", "没有选中声音。"),
    "kept_none_fix": ("Choose one in the list.", "请在列表中选择一个。"),
    # The machine
    "licence": ("licence {name}", "许可 {name}"),
    "gpu_memory": ("GPU memory", "显存"),
    "memory": ("Memory", "内存"),
    "of": ("{used} of {total}", "{used} / {total}"),
    "queue": ("Queue {count}", "排队 {count}"),
    "running": ("Running {count}", "运行 {count}"),
    "per_minute": ("{count}/min", "{count} 个/分钟"),
    "not_loaded": ("not loaded", "未加载"),
    "unload": ("Unload", "卸载"),
    "reload": ("Reload", "重新加载"),
    "memory_short": ("Low memory: batch {count}", "内存紧张：每批 {count} 个"),
    "admission_paused": ("Memory full: waiting", "内存已满：请求暂缓"),
    "sparkline": (
        "Use over the last five minutes: {low} to {high} percent",
        "最近五分钟占用：{low}% 至 {high}%",
    ),
    "part_weights": ("weights", "权重"),
    "part_codec": ("codec", "编解码器"),
    "part_cache": ("cache", "缓存"),
    "part_working": ("working", "运算"),
    "part_held": ("reserve", "预留"),
    "part_others": ("other programs", "其他程序"),
    # Input the page itself refuses
    "bad_seed": ("The seed {value} is not a whole number.", "种子 {value} 不是整数。"),
    "bad_seed_fix": (
        "Give a whole number from 0 to {limit}, or leave it empty for a random one.",
        "请给 0 到 {limit} 之间的整数，留空则随机。",
    ),
    "long_description": (
        "The description has {count:,} characters; at most {limit:,} are read.",
        "描述有 {count:,} 个字符，最多 {limit:,} 个。",
    ),
    "long_description_fix": ("Shorten it.", "请写短一些。"),
}


def say(key: str, language: str, **values: object) -> str:
    """A string of the page.

    Args:
        key: One of `STRINGS`.
        language: `"zh"` for Chinese, anything else for English.
        values: Fill the placeholders.
    """
    return STRINGS[key][1 if language == "zh" else 0].format(**values)
