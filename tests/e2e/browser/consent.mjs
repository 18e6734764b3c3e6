// Goes through the consent page as a person does: signs in, presses a button, and prints where the browser is then sent
// and what it complained of, as a line of JSON.
//
//   node consent.mjs CHROMIUM URL OWNER_KEY BUTTON [PICTURE]
//
// BUTTON is allow or deny; PICTURE is a file for a picture of the question.

import { chromium } from "playwright-core";

const [executablePath, url, ownerKey, button, picture] = process.argv.slice(2);
const PATIENCE_MS = 20_000;
const place = new URL(url).origin;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage({ locale: "en-US" });
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints = [];
  // What the client's own page lacks afterwards, such as an icon, is not ours.
  page.on("console", (message) => {
    if (message.location().url.startsWith(`${place}/`)) {
      complaints.push(message.text());
    }
  });
  await page.goto(url);
  await page.fill("#key", ownerKey);
  await page.click("button.go");
  await page.waitForSelector("button[value=deny]");
  const question = await page.innerText("main");
  if (picture) {
    await page.screenshot({ path: picture });
  }
  const leaving = page.waitForRequest((asked) => asked.isNavigationRequest() && !asked.url().startsWith(`${place}/`));
  await page.click(`button[value=${button}]`);
  const sent = (await leaving).url();
  await page.waitForURL((there) => there.origin !== place, { waitUntil: "load" }).catch(() => undefined);
  const cookies = (await page.context().cookies()).map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path }));
  console.log(JSON.stringify({ sent, question, complaints, cookies }));
} finally {
  await browser.close();
}
