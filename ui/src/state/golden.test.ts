import { expect, test } from "vitest";

import { replay } from ".";
import { GOLDEN } from "../testing/golden";
import { storyOf } from "../testing/story";

test.each(Object.entries(GOLDEN))(
  "the page tells the log %s as the server does",
  (_name, { events, story }) => {
    const { turns } = replay(events);
    expect(story.map(({ id }) => storyOf(turns.get(id)!))).toEqual(story);
    expect([...turns.keys()].toSorted()).toEqual(story.map(({ id }) => id).toSorted());
  },
);
