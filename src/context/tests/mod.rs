//! Tests over several modules of this room, by case id.
