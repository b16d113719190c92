import { Link, paths, useRoute } from "../app/router";
import { Icon } from "../parts";
import { unread, useTold } from "./center";

/** The way to Activity, with how much of it is new. */
export function Bell() {
  const { page } = useRoute();
  const count = unread(useTold());
  const label = count > 0 ? `Notifications, ${count} new` : "Notifications";
  return (
    <Link
      className="icon-btn bell"
      href={paths.activity}
      aria-label={label}
      title={label}
      aria-current={page === "activity" ? "page" : undefined}
    >
      <Icon name="bell" />
      {count > 0 && (
        <span className="bell-count num" aria-hidden="true">
          {count > 9 ? "9+" : count}
        </span>
      )}
    </Link>
  );
}
