"""Workbooks: the boat's log (XLSX, formulas with their values, dates, a hidden sheet), rain (ODS) and spare parts (XLS)."""

import io
from datetime import date, datetime
from pathlib import Path

from office import convert
from openpyxl import Workbook

TRIPS = [
    (date(2026, 1, 12), "Naveen Semwal", "Purana Ghat", 3, 41.5, "cable for the radar arm"),
    (date(2026, 1, 27), "Iqbal", "Doab Tola", 5, 66.0, "health post, vaccines in a cool box"),
    (date(2026, 2, 9), "Shabnam Parveen", "Purana Ghat", 2, 40.0, "levelling of the granary gate"),
    (date(2026, 2, 23), "Iqbal", "island shrine", 6, 71.5, "turned back at the sand bar, propeller bent"),
    (date(2026, 3, 6), "Ramesh Nishad", "Doab Tola", 4, 64.0, "new staff plate"),
    (date(2026, 3, 30), "Rukhsana Bano", "Rehmatganj", 3, 92.5, "outboard to the workshop"),
]
FUEL = [
    (datetime(2026, 1, 10, 8, 30), 40, 104.2, "Kaithwara pump"),
    (datetime(2026, 2, 8, 7, 45), 60, 105.1, "Kaithwara pump"),
    (datetime(2026, 3, 5, 16, 20), 25, 131.0, "canisters from the market, water in two of them"),
]
RAIN = [("Sitalpur school", 61, 48, 92, 33), ("Phalenda temple", 74, 66, 118, 41), ("Naugaon school", 39, 52, 77, 28), ("Ambari bungalow", 22, 31, 58, 19)]
PARTS = [
    ("GDT-90", "gas discharge arrestor", 14, 6, "second shelf, blue box"),
    ("IC-4", "ice collar for the wind mast", 2, 2, "hangs behind the door"),
    ("RB-7", "repeater battery 24 V", 1, 3, "on the floor, never on the shelf"),
    ("VX-418", "handheld radio", 5, 4, "charging rack"),
]


def boat() -> Workbook:
    book = Workbook()
    book.properties.title = "Boat Bulbul: log of the first quarter of 2026"
    trips = book.active
    trips.title = "Trips"
    trips.append(["Date", "Driver", "Destination", "Persons", "Kilometres", "Remark"])
    for row in TRIPS:
        trips.append(row)
        trips.cell(trips.max_row, 1).number_format = "yyyy-mm-dd"
    fuel = book.create_sheet("Fuel")
    fuel.append(["Filled at", "Litres", "Rupees a litre", "Where", "Rupees"])
    for number, row in enumerate(FUEL, 2):
        fuel.append([*row, f"=B{number}*C{number}"])
        fuel.cell(number, 1).number_format = "yyyy-mm-dd hh:mm"
    summary = book.create_sheet("Quarter sums")
    summary.append(["What", "Amount", "Unit"])
    for row in (
        ("All kilometres of the quarter", "=SUM(Trips!E2:E7)", "km"),
        ("All petrol of the quarter", "=SUM(Fuel!B2:B4)", "litres"),
        ("Petrol for a hundred kilometres", "=ROUND(B3/B2*100,1)", "litres"),
        ("Paid for petrol", "=SUM(Fuel!E2:E4)", "rupees"),
    ):
        summary.append(row)
    hidden = book.create_sheet("Drivers")
    hidden.append(["Driver", "Licence", "Valid until"])
    for row in (("Iqbal", "BL-118", date(2027, 4, 30)), ("Ramesh Nishad", "BL-204", date(2026, 8, 31))):
        hidden.append(row)
        hidden.cell(hidden.max_row, 3).number_format = "yyyy-mm-dd"
    hidden.sheet_state = "hidden"
    return book


def rain() -> Workbook:
    book = Workbook()
    sheet = book.active
    sheet.title = "Rain 2025-26"
    sheet.append(["Gauge", "November (mm)", "December (mm)", "January (mm)", "February (mm)", "Winter (mm)"])
    for number, row in enumerate(RAIN, 2):
        sheet.append([*row, f"=SUM(B{number}:E{number})"])
    remarks = book.create_sheet("Remarks")
    remarks.append(["Gauge", "Day", "Remark"])
    for row in (
        ("Phalenda temple", date(2026, 1, 14), "a langur sat on the funnel for the length of a prayer"),
        ("Ambari bungalow", date(2026, 2, 2), "funnel full of neem leaves, month counted too low"),
        ("Sitalpur school", date(2026, 2, 20), "emptied by the pupils, who wrote 11 mm into the register"),
    ):
        remarks.append(row)
        remarks.cell(remarks.max_row, 2).number_format = "yyyy-mm-dd"
    return book


def parts() -> Workbook:
    book = Workbook()
    sheet = book.active
    sheet.title = "Spare parts"
    sheet.append(["Part", "What it is", "In the store", "Must be there", "Where it lies"])
    for row in PARTS:
        sheet.append(row)
    return book


def write(folder: Path) -> None:
    """openpyxl writes formulas without values; LibreOffice computes them, as the office that filled the sheet did."""
    for name, book in (("boat-log.xlsx", boat()), ("winter-rain.ods", rain()), ("spare-parts.xls", parts())):
        stream = io.BytesIO()
        book.save(stream)
        convert(stream.getvalue(), ".xlsx", folder / name)
