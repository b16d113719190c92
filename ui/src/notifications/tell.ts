/** One piece of news to the person, in the ways they chose: list, desktop, sound. */

import { claim } from "./center";
import { land } from "./land";
import type { News } from "./news";
import { permission, preferences } from "./preferences";

const LOOKING = "windlass.looking";
const TONE_HZ = 660;
const TONE_S = 0.18;

export async function tell(news: News): Promise<void> {
  const { asked, ways } = preferences();
  const wants = ways[news.kind];
  const seen = localStorage.getItem(LOOKING) === news.conversationId;
  if (!(await claim(news, { read: seen, hidden: !wants.page }, Date.now())) || seen) return;
  if (wants.desktop && asked !== "off" && permission() === "granted") show(news);
  if (wants.sound && asked === "on") void sound();
}

/** Which chat has a person's eyes, in whichever window; "" for none. */
export function noteLooking(conversationId: string): void {
  const mine = document.hasFocus() ? conversationId : "";
  if (mine) localStorage.setItem(LOOKING, mine);
  else if (localStorage.getItem(LOOKING) === conversationId) localStorage.removeItem(LOOKING);
}

export function stopLooking(conversationId: string): void {
  if (localStorage.getItem(LOOKING) === conversationId) localStorage.removeItem(LOOKING);
}

function show({ title, text, key, conversationId }: News): void {
  const shown = new Notification(title, { body: text, tag: key });
  shown.onclick = () => {
    window.focus();
    land(conversationId);
    shown.close();
  };
}

/** A short tone. Browsers keep it silent in a page that nobody has touched yet. */
async function sound(): Promise<void> {
  const audio = new AudioContext();
  const tone = new OscillatorNode(audio, { frequency: TONE_HZ });
  const volume = new GainNode(audio, { gain: 0.08 });
  volume.gain.setTargetAtTime(0, audio.currentTime + TONE_S / 2, TONE_S / 6);
  tone.connect(volume).connect(audio.destination);
  tone.onended = () => void audio.close();
  tone.start();
  tone.stop(audio.currentTime + TONE_S);
  await audio.resume().catch(() => undefined);
}
