"""Units of measurement: how each is read."""

from __future__ import annotations

import re
from typing import NamedTuple


class Unit(NamedTuple):
    """Readings of a unit.

    Attributes:
        one: English, after 1.
        many: English, after any other number.
        chinese: Chinese; empty where its letters are said.
    """

    one: str
    many: str
    chinese: str


UNITS: dict[str, Unit] = {
    "mmHg": Unit("millimeter of mercury", "millimeters of mercury", "毫米汞柱"),
    "km/h": Unit("kilometer per hour", "kilometers per hour", "公里每小时"),
    "kmh": Unit("kilometer per hour", "kilometers per hour", "公里每小时"),
    "m/s": Unit("meter per second", "meters per second", "米每秒"),
    "mph": Unit("mile per hour", "miles per hour", "英里每小时"),
    "kg": Unit("kilogram", "kilograms", "公斤"),
    "g": Unit("gram", "grams", "克"),
    "mg": Unit("milligram", "milligrams", "毫克"),
    "μg": Unit("microgram", "micrograms", "微克"),
    "lb": Unit("pound", "pounds", "磅"),
    "lbs": Unit("pound", "pounds", "磅"),
    "oz": Unit("ounce", "ounces", "盎司"),
    "km": Unit("kilometer", "kilometers", "公里"),
    "m": Unit("meter", "meters", "米"),
    "cm": Unit("centimeter", "centimeters", "厘米"),
    "mm": Unit("millimeter", "millimeters", "毫米"),
    "μm": Unit("micrometer", "micrometers", "微米"),
    "nm": Unit("nanometer", "nanometers", "纳米"),
    "ft": Unit("foot", "feet", "英尺"),
    "mi": Unit("mile", "miles", "英里"),
    "yd": Unit("yard", "yards", "码"),
    "L": Unit("liter", "liters", "升"),
    "ml": Unit("milliliter", "milliliters", "毫升"),
    "mL": Unit("milliliter", "milliliters", "毫升"),
    "cl": Unit("centiliter", "centiliters", "厘升"),
    "TB": Unit("terabyte", "terabytes", ""),
    "GB": Unit("gigabyte", "gigabytes", ""),
    "MB": Unit("megabyte", "megabytes", ""),
    "KB": Unit("kilobyte", "kilobytes", ""),
    "kB": Unit("kilobyte", "kilobytes", ""),
    "PB": Unit("petabyte", "petabytes", ""),
    "GiB": Unit("gibibyte", "gibibytes", ""),
    "MiB": Unit("mebibyte", "mebibytes", ""),
    "Gbps": Unit("gigabit per second", "gigabits per second", "吉比特每秒"),
    "Mbps": Unit("megabit per second", "megabits per second", "兆比特每秒"),
    "kbps": Unit("kilobit per second", "kilobits per second", "千比特每秒"),
    "Hz": Unit("hertz", "hertz", "赫兹"),
    "kHz": Unit("kilohertz", "kilohertz", "千赫兹"),
    "MHz": Unit("megahertz", "megahertz", "兆赫兹"),
    "GHz": Unit("gigahertz", "gigahertz", "吉赫兹"),
    "kW": Unit("kilowatt", "kilowatts", "千瓦"),
    "kWh": Unit("kilowatt hour", "kilowatt hours", "千瓦时"),
    "W": Unit("watt", "watts", "瓦"),
    "MW": Unit("megawatt", "megawatts", "兆瓦"),
    "V": Unit("volt", "volts", "伏"),
    "kV": Unit("kilovolt", "kilovolts", "千伏"),
    "mV": Unit("millivolt", "millivolts", "毫伏"),
    "mA": Unit("milliamp", "milliamps", "毫安"),
    "mAh": Unit("milliamp hour", "milliamp hours", "毫安时"),
    "dB": Unit("decibel", "decibels", "分贝"),
    "Pa": Unit("pascal", "pascals", "帕"),
    "kPa": Unit("kilopascal", "kilopascals", "千帕"),
    "MPa": Unit("megapascal", "megapascals", "兆帕"),
    "hPa": Unit("hectopascal", "hectopascals", "百帕"),
    "kcal": Unit("kilocalorie", "kilocalories", "千卡"),
    "kJ": Unit("kilojoule", "kilojoules", "千焦"),
    "ms": Unit("millisecond", "milliseconds", "毫秒"),
    "μs": Unit("microsecond", "microseconds", "微秒"),
    "ns": Unit("nanosecond", "nanoseconds", "纳秒"),
    "s": Unit("second", "seconds", "秒"),
    "sec": Unit("second", "seconds", "秒"),
    "secs": Unit("second", "seconds", "秒"),
    "min": Unit("minute", "minutes", "分钟"),
    "mins": Unit("minute", "minutes", "分钟"),
    "h": Unit("hour", "hours", "小时"),
    "hr": Unit("hour", "hours", "小时"),
    "hrs": Unit("hour", "hours", "小时"),
    "°C": Unit("degree Celsius", "degrees Celsius", "摄氏度"),
    "°F": Unit("degree Fahrenheit", "degrees Fahrenheit", "华氏度"),
    "°": Unit("degree", "degrees", "度"),
    "sq ft": Unit("square foot", "square feet", "平方英尺"),
    "m²": Unit("square meter", "square meters", "平方米"),
    "m2": Unit("square meter", "square meters", "平方米"),
    "km²": Unit("square kilometer", "square kilometers", "平方公里"),
    "cm²": Unit("square centimeter", "square centimeters", "平方厘米"),
    "m³": Unit("cubic meter", "cubic meters", "立方米"),
    "m3": Unit("cubic meter", "cubic meters", "立方米"),
    "cm³": Unit("cubic centimeter", "cubic centimeters", "立方厘米"),
    "fps": Unit("frame per second", "frames per second", "帧每秒"),
    "rpm": Unit("RPM", "RPM", "转每分"),
    "bpm": Unit("BPM", "BPM", "次每分"),
    "px": Unit("pixel", "pixels", "像素"),
    "mmol/L": Unit("millimole per liter", "millimoles per liter", "毫摩尔每升"),
    "lx": Unit("lux", "lux", "勒克斯"),
    "cmH2O": Unit("centimeter of water", "centimeters of water", "厘米水柱"),
    "μmol/L": Unit("micromole per liter", "micromoles per liter", "微摩尔每升"),
    "mg/L": Unit("milligram per liter", "milligrams per liter", "毫克每升"),
    "g/L": Unit("gram per liter", "grams per liter", "克每升"),
    "J": Unit("joule", "joules", "焦"),
    "N": Unit("newton", "newtons", "牛"),
    "t": Unit("ton", "tons", "吨"),
    "l": Unit("liter", "liters", "升"),
    "dl": Unit("deciliter", "deciliters", "分升"),
    "kg/m²": Unit("kilogram per square meter", "kilograms per square meter", "公斤每平方米"),
    "kg/m2": Unit("kilogram per square meter", "kilograms per square meter", "公斤每平方米"),
    "kg/m³": Unit("kilogram per cubic meter", "kilograms per cubic meter", "公斤每立方米"),
    "g/cm³": Unit("gram per cubic centimeter", "grams per cubic centimeter", "克每立方厘米"),
}
"""Readings by symbol."""

PATTERN = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
"""Regular expression of every unit, the longest first."""
