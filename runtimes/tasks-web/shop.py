"""Tasks in the shop."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import shop_site
from web import Hands, SiteTask, besides, database, instead, one, run

Given = dict[str, Any]
P = Mapping[str, Any]


class _Shop(SiteTask):
    site = "Hearth"

    def fill(self, rng: random.Random, db: sqlite3.Connection) -> None:
        shop_site.fill(rng, db)


def _open(hands: Hands, name: str) -> None:
    hands.click("Goods")
    hands.fill("Search", name)
    hands.click("Find", name)


def _add(hands: Hands, name: str, quantity: int = 1) -> None:
    _open(hands, name)
    hands.fill("Quantity", quantity)
    hands.click("Add to basket")


class ShopOrder(_Shop):
    words = "Order {quantity} of “{name}” with the delivery “{delivery}”, to the address {address}."

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("DELETE FROM basket")
        p = one(rng, db, "SELECT id, name FROM product WHERE stock > 5")
        delivery = rng.choice(list(shop_site.DELIVERIES))
        return {**p, "quantity": rng.randint(2, 4), "delivery": delivery, "address": rng.choice(("Office", "Parents"))}

    def do(self, db: sqlite3.Connection, p: P) -> None:
        run(db, "INSERT INTO basket VALUES (:id, :quantity)", p)
        shop_site.place(db, p["address"], p["delivery"], "")

    def solve(self, p: P, hands: Hands) -> None:
        _add(hands, p["name"], p["quantity"])
        hands.click("Go to checkout", p["address"], p["delivery"], "Place order")

    trap_quantity = besides("UPDATE line SET quantity = quantity - 1 WHERE placed = 6")
    trap_address = besides("UPDATE placed SET address = 'Home' WHERE id = 6")

    def trap_basket(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            run(db, "INSERT INTO basket VALUES (:id, :quantity)", p)


class ShopCheapest(_Shop):
    words = "Put one of the cheapest kind of {category} that is in stock into the basket."
    change = "INSERT INTO basket VALUES (:id, 1)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("DELETE FROM basket")
        p = one(rng, db, "SELECT id, name, category FROM product WHERE stock > 0")
        least = "(SELECT min(price) FROM product WHERE category = :category)"
        run(db, f"UPDATE product SET price = {least} - 20 WHERE id = :id", p)
        other = one(rng, db, "SELECT id AS sold FROM product WHERE category = :category AND id != :id", p)
        run(db, f"UPDATE product SET stock = 0, price = {least} - 20 WHERE id = :sold", {**p, **other})
        return {**p, **other}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Goods", p["category"], "Price", p["name"], "Add to basket")

    trap_sold_out = instead("INSERT INTO basket VALUES (:sold, 1)")
    trap_two = besides("UPDATE basket SET quantity = 2")
    trap_dearer = instead(
        "INSERT INTO basket SELECT id, 1 FROM product WHERE category = :category AND id NOT IN (:id, :sold) "
        "ORDER BY price LIMIT 1"
    )


class ShopBestRated(_Shop):
    words = "Put the best rated of the {category} that cost less than {price} euros on the wish list."
    split = "test"
    change = "INSERT INTO wish VALUES (:id)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("DELETE FROM wish")
        p = {"category": rng.choice(list(shop_site.GOODS))}
        goods = db.execute(
            "SELECT id, name, price FROM product WHERE category = :category ORDER BY price", p
        ).fetchall()
        split = rng.randint(3, 6)
        p["price"] = goods[split]["price"] // 100
        run(db, "UPDATE product SET price = :price * 100 + 90 WHERE id = :id", {**p, "id": goods[split]["id"]})
        cheap = [row for row in goods if row["price"] < p["price"] * 100]
        best, good = rng.sample(cheap, 2)
        dear = rng.choice(goods[split:])
        for stars, row in ((5.0, dear), (4.9, best), (4.8, good)):
            run(db, f"UPDATE product SET stars = {stars} WHERE id = :id", {"id": row["id"]})
        run(
            db,
            "UPDATE product SET stars = stars - 0.2 WHERE stars < 5.1 AND id NOT IN (:a, :b, :c)",
            {"a": dear["id"], "b": best["id"], "c": good["id"]},
        )
        return {**p, "id": best["id"], "name": best["name"], "dear": dear["id"], "good": good["id"]}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Goods", p["category"], "Best rated", p["name"], "Add to wishes")

    trap_dear = instead("INSERT INTO wish VALUES (:dear)")
    trap_second = instead("INSERT INTO wish VALUES (:good)")
    trap_basket = instead("INSERT INTO basket VALUES (:id, 1) ON CONFLICT DO UPDATE SET quantity = quantity + 1")


class ShopTwoThings(_Shop):
    words = "Put {several} of “{name}” and {more} of “{other}” into the basket, beside what is in it."
    change = "INSERT INTO basket VALUES (:id, :several); INSERT INTO basket VALUES (:second, :more)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        free = "SELECT * FROM product WHERE stock > 5 AND id NOT IN (SELECT product FROM basket)"
        first, second = rng.sample(db.execute(free).fetchall(), 2)
        several, more = rng.sample(range(1, 6), 2)
        p = {"name": first["name"], "other": second["name"], "several": several, "more": more}
        return {**p, "id": first["id"], "second": second["id"]}

    def solve(self, p: P, hands: Hands) -> None:
        _add(hands, p["name"], p["several"])
        _add(hands, p["other"], p["more"])

    trap_swapped = instead("INSERT INTO basket VALUES (:id, :more); INSERT INTO basket VALUES (:second, :several)")
    trap_alone = besides("DELETE FROM basket WHERE product NOT IN (:id, :second)")


class ShopRemove(_Shop):
    words = "Remove “{name}” from the basket."
    change = "DELETE FROM basket WHERE product = :id"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        alike = "a.id != b.id AND substr(a.name, 1, instr(a.name, ',')) = substr(b.name, 1, instr(b.name, ','))"
        p = one(rng, db, f"SELECT a.id, a.name, b.id AS other FROM product a JOIN product b ON {alike}")
        for product in (p["id"], p["other"]):
            db.execute("INSERT INTO basket VALUES (?, ?) ON CONFLICT DO NOTHING", (product, rng.randint(1, 3)))
        return p

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Basket", "Remove " + p["name"])

    trap_other = instead("DELETE FROM basket WHERE product = :other")
    trap_all = instead("DELETE FROM basket")
    trap_wish = besides("INSERT INTO wish VALUES (:id) ON CONFLICT DO UPDATE SET product = 0")


class ShopQuantity(_Shop):
    words = "Change how many of “{name}” are in the basket to {quantity}."
    change = "UPDATE basket SET quantity = :quantity WHERE product = :id"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("UPDATE product SET stock = 40 WHERE id IN (SELECT product FROM basket)")
        return {
            **one(rng, db, "SELECT id, name FROM product JOIN basket ON id = product"),
            "quantity": rng.randint(4, 19),
        }

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Basket")
        hands.fill("Quantity of " + p["name"], p["quantity"])
        hands.click("Change " + p["name"])

    trap_added = instead("UPDATE basket SET quantity = quantity + :quantity WHERE product = :id")
    trap_all = instead("UPDATE basket SET quantity = :quantity")


class ShopWishColour(_Shop):
    words = "Put all {category} that are {colour} on the wish list."
    change = "INSERT INTO wish SELECT id FROM product WHERE category = :category AND colour = :colour"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("DELETE FROM wish")
        several = "SELECT category, colour FROM product GROUP BY category, colour HAVING count(*) > 1"
        p = one(rng, db, several)
        named = "SELECT id, name FROM product WHERE category = :category AND colour = :colour ORDER BY name"
        rows = db.execute(named, p).fetchall()
        return {**p, "names": [row["name"] for row in rows], "last": rows[-1]["id"]}

    def solve(self, p: P, hands: Hands) -> None:
        for name in p["names"]:
            _open(hands, name)
            hands.click("Add to wishes")

    trap_missing = besides("DELETE FROM wish WHERE product = :last")
    trap_more = besides(
        "INSERT INTO wish SELECT id FROM product WHERE category = :category AND colour != :colour LIMIT 1"
    )


class ShopCancel(_Shop):
    words = "Cancel the order that was placed on {day}."
    change = "UPDATE placed SET status = 'cancelled' WHERE id = :id"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("UPDATE placed SET status = 'being packed' WHERE id > 2")
        return one(rng, db, "SELECT id, day FROM placed WHERE id > 2")

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Orders", f"Order {p['id']}", "Cancel order")

    trap_other = instead("UPDATE placed SET status = 'cancelled' WHERE id = (:id - 2) % 3 + 3")
    trap_reordered = besides("UPDATE basket SET quantity = quantity + 1")


class ShopReturn(_Shop):
    words = "Ask to return “{name}” of the order of {day}. The reason is: {why}."
    split = "test"
    change = "UPDATE line SET returned = :why WHERE placed = :placed AND product = :id"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        bought = "SELECT o.id AS placed, day, p.id AS id, p.name AS name FROM line JOIN product p ON p.id = product "
        p = one(rng, db, bought + "JOIN placed o ON o.id = line.placed WHERE status = 'delivered'")
        return {**p, "why": rng.choice(shop_site.REASONS)}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Orders", f"Order {p['placed']}", "Return " + p["name"], p["why"], "Ask for return")

    trap_why = besides("UPDATE line SET returned = returned || '.' WHERE product = :id")
    trap_another = instead("UPDATE line SET returned = :why WHERE placed = :placed AND product != :id")


class ShopReview(_Shop):
    words = "Publish a review of “{name}” with {stars} stars that says: {said}"
    change = "INSERT INTO review VALUES (:id, :stars, :said, 1)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        said = (
            f"{rng.choice(('Bright', 'Sturdy', 'Pretty', 'Light'))}, {rng.choice(('but loud', 'and cheap', 'as said'))}"
        )
        return {**one(rng, db, "SELECT id, name FROM product"), "stars": rng.randint(2, 4), "said": said}

    def solve(self, p: P, hands: Hands) -> None:
        _open(hands, p["name"])
        hands.click(f"{p['stars']}", role="radio")
        hands.fill("Your review", p["said"])
        hands.click("Publish review")

    trap_stars = instead("INSERT INTO review VALUES (:id, 5, :said, 1)")
    trap_twice = besides("INSERT INTO review VALUES (:id, :stars, :said, 1)")
    trap_another = instead("INSERT INTO review VALUES (:id % 60 + 1, :stars, :said, 1)")


class ShopCoupon(_Shop):
    words = "Use the coupon of the offers that takes most off the {things} things in the basket, and order nothing."
    change = "UPDATE setting SET value = :code WHERE name = 'coupon'"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        cost = "SELECT sum(quantity * price) AS cost, sum(quantity) AS things FROM basket JOIN product ON id = product"
        cost, things = db.execute(cost).fetchone()
        codes = [row["code"] for row in db.execute("SELECT code FROM coupon ORDER BY percent")]
        right = rng.randrange(1, 3)
        least = [
            cost * (7 + number) // 10 if number <= right else cost + 100 * rng.randint(1, 9) for number in range(3)
        ]
        for code, minimum in zip(codes, least, strict=True):
            db.execute("UPDATE coupon SET minimum = ? WHERE code = ?", (minimum, code))
        return {"things": things, "code": codes[right], "less": codes[right - 1]}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Basket")
        hands.fill("Coupon", p["code"])
        hands.click("Use coupon")

    trap_less = instead("UPDATE setting SET value = :less WHERE name = 'coupon'")

    def trap_ordered(self, p: P, home: Path) -> None:
        with database(home, self.site) as db:
            self.do(db, p)
            shop_site.place(db, "Home", "Standard", "")


class ShopAddress(_Shop):
    words = "Add the address {label}: {person}, {street}, {town}. Make it the main one."
    change = "UPDATE address SET main = 0; INSERT INTO address VALUES (4, :label, :person, :street, :town, 1)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        street, town = f"{rng.randint(2, 98)} {rng.choice(shop_site.STREETS)}", rng.choice(shop_site.TOWNS)
        label, person = rng.choice(("Studio", "Garage", "Cottage")), rng.choice(shop_site.NAMES)
        return {"label": label, "person": person, "street": street, "town": town}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Account")
        for name, key in (("Label", "label"), ("Name", "person"), ("Street", "street"), ("Town", "town")):
            hands.fill(name, p[key])
        hands.click("Add address", f"Make {p['label']} the main one")

    trap_not_main = instead("INSERT INTO address VALUES (4, :label, :person, :street, :town, 0)")
    trap_instead = instead(
        "UPDATE address SET label = :label, name = :person, street = :street, town = :town WHERE main"
    )


class ShopGift(_Shop):
    words = "Order what is in the basket as a gift to {address}, by Express, with the note: {note}"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("UPDATE product SET stock = 9 WHERE id IN (SELECT product FROM basket)")
        wish = rng.choice(("Happy birthday", "All the best", "With love", "Thank you"))
        note = f"{wish}, {rng.choice(('Mum', 'Jo', 'Ed'))}!"
        return {"address": rng.choice(("Parents", "Office")), "note": note}

    def do(self, db: sqlite3.Connection, p: P) -> None:
        shop_site.place(db, p["address"], "Express", p["note"])

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Basket", "Go to checkout", p["address"], "Express")
        hands.fill("Note for a gift", p["note"])
        hands.click("Place order")

    trap_note = besides("UPDATE placed SET gift = '' WHERE id = 6")
    trap_standard = besides("UPDATE placed SET delivery = 'Standard', total = total - 500 WHERE id = 6")
    trap_home = besides("UPDATE placed SET address = 'Home' WHERE id = 6")


class ShopAgain(_Shop):
    words = "Put what was ordered on {day} into the basket again, but without “{name}”."
    split = "test"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        db.execute("DELETE FROM basket")
        db.execute("UPDATE product SET stock = 9 WHERE id IN (SELECT product FROM line)")
        return one(
            rng,
            db,
            "SELECT o.id AS placed, day, p.id AS id, p.name AS name FROM line JOIN placed o ON o.id = placed "
            "JOIN product p ON p.id = product",
        )

    change = (
        "INSERT INTO basket SELECT product, quantity FROM line WHERE placed = :placed; "
        "DELETE FROM basket WHERE product = :id"
    )

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Orders", f"Order {p['placed']}", "Order again", "Remove " + p["name"])

    trap_all = instead("INSERT INTO basket SELECT product, quantity FROM line WHERE placed = :placed")
    trap_ones = besides("UPDATE basket SET quantity = quantity + 1")


class ShopForget(_Shop):
    words = "Take the {several} things that are sold out off the wish list."
    change = "DELETE FROM wish WHERE product IN (SELECT id FROM product WHERE stock = 0)"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        rows = db.execute("SELECT id, name FROM product JOIN wish ON id = product ORDER BY name").fetchall()
        several = rng.randint(2, 3)
        sold = rng.sample(rows, several)
        db.execute("UPDATE product SET stock = 3 WHERE id IN (SELECT product FROM wish)")
        for row in sold:
            db.execute("UPDATE product SET stock = 0 WHERE id = ?", (row["id"],))
        return {"several": several, "names": [row["name"] for row in sold], "last": sold[-1]["id"]}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Wishes", *("Forget " + name for name in p["names"]))

    trap_all = instead("DELETE FROM wish")
    trap_one_left = besides("INSERT INTO wish VALUES (:last)")


class ShopMoved(_Shop):
    words = "Delete the address {label}, and stop the newsletter."
    change = "DELETE FROM address WHERE label = :label; UPDATE setting SET value = '' WHERE name = 'newsletter'"

    def choose(self, rng: random.Random, db: sqlite3.Connection) -> Given:
        label = rng.choice(("Office", "Parents"))
        return {"label": label, "other": {"Office": "Parents", "Parents": "Office"}[label]}

    def solve(self, p: P, hands: Hands) -> None:
        hands.click("Account", "Delete " + p["label"], "Send me the newsletter", "Save")

    trap_letters = instead("DELETE FROM address WHERE label = :label")
    trap_other = instead(
        "DELETE FROM address WHERE label = :other; UPDATE setting SET value = '' WHERE name = 'newsletter'"
    )
