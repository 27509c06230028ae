"""What a mail program quotes below a reply, in the languages and forms that people's programs write."""

import pytest

from github.webhooks.mentions import mentioned

HEADERS = [
    "On Mon, 3 Nov 2026 at 10:00, A Person <a@example.com> wrote:",
    "On Mon, 3 Nov 2026 at 10:00, A Person\n<notifications@github.com> wrote:",
    "On Mon, Nov 3, 2026 at 10:00 AM A ***@***.***> wrote:",
    "Am Mo., 3. Nov. 2026 um 10:00 Uhr schrieb A Person <a@example.com>:",
    "Am 03.11.26 um 10:00 schrieb A Person:",
    "Le lun. 3 nov. 2026 à 10:00, A Person <a@example.com> a écrit :",
    "Le 3 nov. 2026 à 10:00, A Person a écrit :",
    "El lun, 3 nov 2026 a las 10:00, A Person (<a@example.com>) escribió:",
    "Il giorno lun 3 nov 2026 alle ore 10:00 A Person <a@example.com> ha scritto:",
    "Il 03/11/26 10:00, A Person ha scritto:",
    "Em seg., 3 de nov. de 2026 às 10:00, A Person <a@example.com> escreveu:",
    "Op ma 3 nov 2026 om 10:00 schreef A Person <a@example.com>:",
    "pon., 3 lis 2026 o 10:00 A Person <a@example.com> napisał(a):",
    "пн, 3 нояб. 2026 г. в 10:00, A Person <a@example.com>:",
    "Den mån 3 nov. 2026 kl 10:00 skrev A Person <a@example.com>:",
    "Den 2026-11-03 kl. 10:00, skrev A Person:",
    "man. 3. nov. 2026 kl. 10:00 skrev A Person <a@example.com>:",
    "ma 3. marrask. 2026 klo 10.00 A Person (a@example.com) kirjoitti:",
    "Dne 03. 11. 26 v 10:00 A Person napsal(a):",
    "A Person <a@example.com>, 3 Kas 2026 Pzt, 10:00 tarihinde şunu yazdı:",
    "2026年11月3日(月) 10:00 A Person <a@example.com>:",
    "A Person <a@example.com> 于2026年11月3日周一 10:00写道：",
    "2026년 11월 3일 (월) 오전 10:00, A Person <a@example.com>님이 작성:",
    "A Person <a@example.com> ezt írta (időpont: 2026. nov. 3., H, 10:00):",
    "Στις Δευ 3 Νοε 2026 στις 10:00, A Person <a@example.com> έγραψε:",
    "În lun., 3 nov. 2026 la 10:00, A Person <a@example.com> a scris:",
    "________________________________\nFrom: A Person <a@example.com>\nSent: Monday\nTo: B\nSubject: Re: x",
    "Von: A Person <a@example.com>\nGesendet: Montag, 3. November 2026 10:00\nAn: B\nBetreff: Re: x",
    "De : A Person <a@example.com>\nEnvoyé : lundi 3 novembre 2026 10:00\nÀ : B\nObjet : Re: x",
    "De: A Person <a@example.com>\nEnviado: lunes, 3 de noviembre de 2026 10:00\nPara: B\nAsunto: Re: x",
    "От: A Person <a@example.com>\nОтправлено: 3 ноября 2026 г. 10:00\nКому: B\nТема: Re: x",
    "差出人: A Person <a@example.com>\n送信日時: 2026年11月3日 10:00\n宛先: B\n件名: Re: x",
    "-----Original Message-----\nFrom: A\nSent: B",
    "-----Ursprüngliche Nachricht-----\nVon: A\nGesendet: B",
    "-----Message d'origine-----\nDe : A\nEnvoyé : B",
]


@pytest.mark.parametrize("header", HEADERS)
def test_what_stands_below_the_header_line_of_a_mail_program_asks_for_nothing(header: str) -> None:
    assert not mentioned(f"Thanks a lot!\n\n{header}\n\n@greenloop fix it\n", ["greenloop"])
    assert mentioned(f"@greenloop fix it\n\n{header}\n\nquoted\n", ["greenloop"])


@pytest.mark.parametrize(
    "prose",
    [
        "On the forum Bob wrote:",
        "The log says on line 3:",
        "Le client a écrit :",
        "At 10:00 it failed with:",
        "On 2026-11-03 10:00 the build failed with:",
        "From: the docs\nTo: the code",
        "Best regards,",
        "- one",
        "---- Notes ----",
        "----------------------------\nNote: this",
        "Steps: open\nResult: 500 at 10:00\nExpected: 200",
        "Version: 1.2\nOS: Linux\nDate: 2026-11-03 10:00\nFrom: x",
        "The job of 10:00 by a@b.example:",
    ],
)
def test_prose_that_only_looks_like_a_header_hides_nothing(prose: str) -> None:
    assert mentioned(f"{prose}\n\n@greenloop fix it", ["greenloop"])


def test_an_answer_below_lines_that_the_mail_program_marked_counts() -> None:
    header = "On Mon, 3 Nov 2026 at 10:00, A Person <a@example.com> wrote:"
    assert mentioned(f"{header}\n> what now?\n\n@greenloop fix it", ["greenloop"])
    assert not mentioned(f"{header}\n> what now?\n> @greenloop fix it", ["greenloop"])
