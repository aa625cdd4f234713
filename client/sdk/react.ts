/**
 * A room as a component of a react-three-fiber scene: joins, puts the object of `pliant-client/three` into the scene,
 * lets pointers pull at it, and leaves with the component.
 */
import { type ThreeElements, type ThreeEvent, useFrame } from "@react-three/fiber";
import { createElement, type ReactNode, useEffect, useRef, useState } from "react";
import { type PerspectiveCamera, Plane, Vector3 } from "three";
import { type Hand, type JoinOptions, joinRoom, type PliantError, type RoomEvents } from "./index.ts";
import { PliantRoom as RoomObject, type RoomIntersection } from "./three.ts";

/** Of `joinRoom`, and what any object of a scene takes: `position`, `scale`, `ref` (to the object), ... */
export interface PliantRoomProps
  extends Omit<JoinOptions, "signal" | "WebSocket">,
    Omit<ThreeElements["primitive"], "object" | "name"> {
  /** Of the room's page: http(s)://host[:port]/r/<room> */
  url: string;
  /** May pointers pull at the bodies? Default: yes. */
  pull?: boolean;
  /** The line: open, coming back, or ended with the reason, which may be that the room could not be joined. */
  onState?: (state: RoomEvents["state"]) => void;
  /** A pointer could not take hold: the role, the line or the number of hands does not allow it. */
  onRefused?: (error: PliantError) => void;
}

export function PliantRoom(props: PliantRoomProps): ReactNode {
  const { url, name, color, token, password, scene, contacts, timeoutMs, pull = true, ...rest } = props;
  const { onState, onRefused, ...object3d } = rest;
  const [object, setObject] = useState<RoomObject>();
  const heard = useRef(onState);
  useEffect(() => void (heard.current = onState));
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const tell = (state: RoomEvents["state"]): void => void (signal.aborted || heard.current?.(state));
    let made: RoomObject | undefined;
    joinRoom(url, { name, color, token, password, scene, contacts, timeoutMs, signal }).then(
      (room) => {
        if (signal.aborted) return;
        made = new RoomObject(room);
        setObject(made);
        room.on("state", tell);
        tell({ state: "open" });
      },
      (error: PliantError) => tell({ state: "ended", error }),
    );
    return () => {
      stop.abort();
      setObject(undefined);
      made?.dispose();
    };
  }, [url, name, color, token, password, scene, contacts, timeoutMs]);
  useFrame(({ camera }) => object?.update(camera as PerspectiveCamera));
  const handlers = usePulling(object, onRefused);
  return object && createElement("primitive", { ...(pull && handlers), ...object3d, object });
}

/** Every pointer that goes down on a body pulls at it, in the plane that faces the camera, until it goes up. */
function usePulling(object: RoomObject | undefined, onRefused: PliantRoomProps["onRefused"]) {
  const held = useRef(new Map<number, { hand: Hand; plane: Plane }>()).current;
  return {
    onPointerDown: (event: ThreeEvent<PointerEvent>): void => {
      const { pointerId, camera, point } = event;
      const { surface } = event as unknown as RoomIntersection;
      if (!object || held.has(pointerId)) return;
      event.stopPropagation();
      try {
        const hand = object.grab(surface);
        const plane = new Plane().setFromNormalAndCoplanarPoint(camera.getWorldDirection(new Vector3()), point);
        held.set(pointerId, { hand, plane });
        // The way by which every press ends, a cancelled one, too.
        const canvas = event.nativeEvent.target as HTMLElement;
        const lost = (end: PointerEvent): void => {
          if (end.pointerId !== pointerId) return;
          canvas.removeEventListener("lostpointercapture", lost);
          held.delete(pointerId);
          hand.release();
        };
        canvas.addEventListener("lostpointercapture", lost);
        (event.target as Element).setPointerCapture(pointerId);
      } catch (error) {
        onRefused?.(error as PliantError);
      }
    },
    onPointerMove: ({ pointerId, ray }: ThreeEvent<PointerEvent>): void => {
      const pulling = held.get(pointerId);
      const to = pulling?.hand.held && ray.intersectPlane(pulling.plane, new Vector3());
      if (to) object?.pull(pulling.hand, to);
    },
  };
}
